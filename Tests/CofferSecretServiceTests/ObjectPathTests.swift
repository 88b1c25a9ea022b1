import CofferSecretService
import CofferTestSupport
import Testing

/// The paths of objects, which programs keep, and by which they come back.
@Suite struct ObjectPathTests {
    @Test(
        arguments: [
            (ObjectPath.service, "/org/freedesktop/secrets"),
            (.collection("login"), "/org/freedesktop/secrets/collection/login"),
            (.collection("my_stuff"), "/org/freedesktop/secrets/collection/my_5fstuff"),
            (.alias("default"), "/org/freedesktop/secrets/aliases/default"),
            (.item(ItemKey(collection: "login", name: "a/ü")), "/org/freedesktop/secrets/collection/login/a_2f_c3_bc"),
            (.session(7), "/org/freedesktop/secrets/session/7"), (.prompt(12), "/org/freedesktop/secrets/prompt/12"),
        ]
    )
    func `an object has this path, and the path names the object`(object: ObjectPath, path: String) {
        #expect(object.path == path)
        #expect(ObjectPath(path) == object)
    }

    @Test func `a path leads back to its object, whatever the names of collections and items are`() {
        var generator = SeededGenerator(seed: 39)
        for _ in 0..<2000 {
            let names = (0..<2).map { _ in
                let count = Int.random(in: 1...12, using: &generator)
                let scalars = (0..<count).compactMap { _ in
                    UnicodeScalar(
                        UInt32.random(
                            in: 0...[0x7F, 0x2FF, 0x1FFFF].randomElement(using: &generator)!,
                            using: &generator
                        )
                    )
                }
                return scalars.isEmpty ? "x" : String(String.UnicodeScalarView(scalars))
            }
            let item = ItemKey(collection: names[0], name: names[1])
            for object in [ObjectPath.collection(names[0]), .alias(names[0]), .item(item)] {
                let path = object.path
                #expect(ObjectPath(path) == object, "\(path)")
                let isValid = path.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "/"):
                        true
                    default: false
                    }
                }
                #expect(isValid, "\(path)")
            }
        }
    }

    @Test func `names that are equal to Swift, and have other bytes, have other paths`() {
        let (one, other) = ("\u{E9}", "e\u{301}")
        #expect(one == other)
        #expect(ObjectPath.collection(one).path != ObjectPath.collection(other).path)
    }

    @Test(
        arguments: [
            "", "/", "/org/freedesktop", "/org/freedesktop/secret", "/org/freedesktop/secretsx",
            "/org/freedesktop/secrets/", "/org/freedesktop/secrets/collection", "/org/freedesktop/secrets/collection/",
            "/org/freedesktop/secrets/collection/login/", "/org/freedesktop/secrets/collection//x",
            "/org/freedesktop/secrets/collection/login/a/b", "/org/freedesktop/secrets/collection/_",
            "/org/freedesktop/secrets/collection/_2", "/org/freedesktop/secrets/collection/_2F",
            "/org/freedesktop/secrets/collection/_6cogin", "/org/freedesktop/secrets/collection/_ff",
            "/org/freedesktop/secrets/collection/_+1", "/org/freedesktop/secrets/collection/a.b",
            "/org/freedesktop/secrets/collections/login", "/org/freedesktop/secrets/aliases",
            "/org/freedesktop/secrets/aliases/a/b", "/org/freedesktop/secrets/session/x",
            "/org/freedesktop/secrets/session/01", "/org/freedesktop/secrets/session/_31",
            "/org/freedesktop/secrets/session/99999999999999999999", "/org/freedesktop/secrets/prompt/1/2",
            "/org/freedesktop/secrets/session/_2d1", "/org/freedesktop/secrets/session/_2b1",
        ]
    )
    func `no other path names an object`(path: String) {
        #expect(ObjectPath(path) == nil)
    }
}
