/// The passcodes of at least four characters that head every list of leaked ones, in lower case.
package enum CommonPasscodes {
    package static let all = [
        "0000", "00000", "000000", "0123456789", "1010", "102030", "1111", "111111", "11111111", "1122", "112233",
        "121212", "123123", "123123123", "1212", "123321", "1234", "12341234", "12344321", "12345", "123456", "1234567",
        "12345678", "123456789", "1234567890", "1234567891", "123456a", "123abc", "123qwe", "1313", "131313", "147258",
        "147258369", "1q2w3e", "1q2w3e4r", "1q2w3e4r5t", "1qaz2wsx", "2000", "2222", "222222", "2580", "3333", "333333",
        "4321", "4444", "444444", "5555", "555555", "5683", "654321", "6666", "666666", "696969", "6969", "7777",
        "777777", "7777777", "789456", "789456123", "87654321", "8888", "888888", "88888888", "987654321", "9876543210",
        "987654", "9999", "999999", "aa123456", "aaaaaa", "abc123", "abc1234", "abcd", "abcd1234", "abcdef", "abcdefg",
        "access", "admin", "admin123", "administrator", "adobe123", "amanda", "andrea", "andrew", "angel", "anthony",
        "apple", "asdasd", "asdf", "asdf1234", "asdfasdf", "asdfgh", "asdfghjkl", "ashley", "azerty", "bailey",
        "baseball", "basketball", "batman", "buster", "changeme", "charlie", "cheese", "chelsea", "chocolate", "coffer",
        "computer", "correcthorsebatterystaple", "daniel", "default", "donald",
        "dragon", "facebook", "flower", "football", "freedom", "fuckyou", "george", "ginger", "guest", "harley",
        "hello", "hello123", "hockey", "hunter", "hunter2", "iloveyou", "jennifer", "jessica", "jesus", "jordan",
        "jordan23", "joshua", "killer", "letmein", "liverpool", "login", "london", "lovely", "loveme", "maggie",
        "martin", "master", "matrix", "matthew", "michael", "michelle", "monkey", "mustang", "naruto", "nicole",
        "nothing", "ninja", "pass", "pass1234", "passcode", "passwd", "password", "password1", "password12",
        "password123", "password1234", "passw0rd", "p@ssw0rd", "p@ssword", "pepper", "pokemon", "princess", "purple",
        "q1w2e3r4", "qazwsx", "qazwsxedc", "qqww1122", "qwer", "qwer1234", "qwert", "qwerty", "qwerty1", "qwerty123",
        "qwertyuiop", "qwertz", "ranger", "robert", "root", "samsung", "secret", "shadow", "snoopy", "soccer",
        "solo", "spiderman", "starwars", "summer", "sunshine", "superman", "taylor", "test", "test123", "test1234",
        "thomas", "thunder", "tigger", "toor", "trustno1", "user", "welcome", "welcome1", "whatever", "william",
        "winter", "yankees", "zaq12wsx", "zxcvbn", "zxcvbnm",
    ]
}
