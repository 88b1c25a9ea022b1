import CofferTestSupport
import Foundation
import Testing

/// Programs of every day, which know nothing of Coffer, on a mount.
@Suite(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
struct MountProgramsTests {
    private let mount: MountedVault

    init() throws { mount = try MountedVault() }

    private func succeeds(_ script: String) throws -> String {
        let result = try mount.run(script)
        #expect(result.status == 0, "\(result.errors)")
        return result.text
    }

    @Test(arguments: ["wal", "delete", "truncate", "persist"])
    func `two processes fill a database of SQLite at once`(journal: String) throws {
        let text = try succeeds(
            """
            sqlite3 t.db 'PRAGMA journal_mode=\(journal); CREATE TABLE t(process, number)' >../log
            fill() { for n in {1..20}; do sqlite3 -cmd '.timeout 60000' t.db "INSERT INTO t VALUES($1, $n)"; done; }
            fill 1 & first=$!
            fill 2 & second=$!
            wait $first; wait $second
            sqlite3 t.db 'SELECT count(*) FROM t; PRAGMA integrity_check'
            """
        )
        #expect(text == "40\nok\n")
    }

    @Test func `git clones, commits, collects garbage, and finds nothing wrong`() throws {
        let text = try succeeds(
            """
            git init --quiet ../source && cd ../source
            git config user.name N && git config user.email e@example.org
            for n in {1..30}; do seq $n $((n * 40)) >file$n; done
            git add . && git commit --quiet --message first
            cd - >../log
            git clone --quiet ../source clone && cd clone
            git config user.name N && git config user.email e@example.org
            echo more >>file1 && git commit --quiet --all --message second
            git mv file2 renamed && git commit --quiet --message third
            git gc --quiet && git fsck --full 2>../../log
            git status --porcelain
            git log --format=%s
            """
        )
        #expect(text == "third\nsecond\nfirst\n")
    }

    @Test func `tar, cp and rsync copy a tree there and back`() throws {
        _ = try succeeds(
            """
            mkdir -p ../tree/{a,b/c/d,empty}
            for n in {1..25}; do head -c $((n * 3000)) /dev/urandom >../tree/b/c/file$n; done
            echo text >../tree/a/text
            tar -cf - -C .. tree | tar -xf -
            diff -r ../tree tree
            cp -a tree copy && diff -r tree copy
            rsync -a ../tree/ synced && diff -r ../tree synced
            rsync -a --delete synced/b/ copy && diff -r synced/b copy
            tar -cf ../back.tar tree && mkdir ../back && tar -xf ../back.tar -C ../back && diff -r ../tree ../back/tree
            """
        )
    }

    @Test func `make builds a program in parallel`() throws {
        let text = try succeeds(
            """
            printf 'objects = main.o one.o two.o three.o\\nprogram: $(objects)\\n\\tcc -o $@ $^\\n' >Makefile
            for name in one two three; do echo "int $name(void) { return 1; }" >$name.c; done
            echo 'int one(void); int two(void); int three(void);
            int main(void) { return one() + two() + three() - 3; }' >main.c
            make -j4 >../log && ./program && make
            """
        )
        #expect(text.contains("up to date"))
    }

    @Test func `an editor that writes beside and renames leaves the new text and nothing else`() throws {
        let text = try succeeds(
            """
            echo one >text
            exec 5<text
            for n in {1..20}; do echo "version $n" >.text.swp && sync .text.swp && mv .text.swp text; done
            cat text <&5 && cat <&5 && ls -A
            """
        )
        #expect(text == "version 20\none\ntext\n")
    }

    @Test func `mail is delivered as in a Maildir`() throws {
        let text = try succeeds(
            """
            mkdir -p mail/{tmp,new,cur}
            deliver() { for n in {1..20}; do
                echo "letter $1 $n" >mail/tmp/$1.$n && sync mail/tmp/$1.$n && mv -n mail/tmp/$1.$n mail/new/
            done; }
            deliver a & first=$!
            deliver b & second=$!
            wait $first; wait $second
            ls mail/tmp | wc -l && ls mail/new | wc -l && cat mail/new/* | sort | uniq | wc -l
            """
        )
        #expect(text == "0\n40\n40\n")
    }
}
