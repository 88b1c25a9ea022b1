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

    @Test func `rsync brings the attributes of users along, and leaves the classes as they are`() throws {
        // The source is in the mount as well: not every file system beside it has attributes.
        let text = try succeeds(
            """
            mkdir -p tree/d ../plain && echo text >tree/d/file && echo plain >../plain/file
            mark() { python3 -c 'import os, sys; os.setxattr(*sys.argv[1:3], sys.argv[3].encode())' "$@"; }
            show() { python3 -c 'import os, sys
            for path in sys.argv[1:]:
                print(path, *(name + "=" + os.getxattr(path, name).decode() for name in sorted(os.listxattr(path))))
            print(os.getxattr(path, "user.coffer.class").decode())' "$@"; }
            mark tree/d user.note directory && mark tree/d/file user.note file
            mark tree/d/file user.coffer.class none
            rsync -aX tree/ copy && diff -r tree copy && show copy/d copy/d/file
            mark copy/d/file user.more text && mark copy/d/file user.coffer.class complete
            rsync -aX tree/ copy && show copy/d copy/d/file
            rsync -aX ../plain/ plain && show plain/file
            """
        )
        #expect(
            text == """
                copy/d user.note=directory
                copy/d/file user.note=file
                completeUntilFirstUserAuthentication
                copy/d user.note=directory
                copy/d/file user.note=file
                complete
                plain/file
                completeUntilFirstUserAuthentication

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

    private static let hasPostgreSQL = serverPrograms != nil

    /// The directory of PostgreSQL's server programs, which are in no search path.
    private static let serverPrograms: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.sorted().map { "\(root)/\($0)/bin" }.last {
            FileManager.default.isExecutableFile(atPath: "\($0)/initdb")
        }
    }()

    @Test(.enabled(if: hasPostgreSQL, "there is no server of PostgreSQL"))
    func `PostgreSQL makes a cluster, runs a benchmark, and finds its pages whole`() throws {
        // The server refuses to run as root, and another user can't enter the mount: so root is another one to it.
        let asUser = geteuid() == 0 ? "unshare --user --map-user=1000 --map-group=1000" : ""
        let text = try succeeds(
            """
            export PATH=\(Self.serverPrograms ?? ""):$PATH
            run() { \(asUser) "$@"; }
            run initdb --no-sync --pgdata=data --auth=trust --username=tester --data-checksums >../log
            run pg_ctl --pgdata=data --log=../server --wait -o "-c listen_addresses= -k $HOME" start >>../log
            run createdb --host="$HOME" --username=tester bench
            run pgbench --host="$HOME" --username=tester --initialize --quiet bench 2>>../log >>../log
            run pgbench --host="$HOME" --username=tester --client=4 --transactions=50 --no-vacuum bench >>../log 2>&1
            run psql --host="$HOME" --username=tester --no-align --tuples-only \
                --command='SELECT count(*) FROM pgbench_history' bench
            run pg_ctl --pgdata=data --wait stop >>../log
            run pg_checksums --pgdata=data --check | grep 'Bad checksums'
            """
        )
        #expect(text == "200\nBad checksums:  0\n")
    }

    @Test func `pip installs a package into a virtual environment there`() throws {
        let text = try succeeds(
            """
            python3 -m venv --without-pip environment
            mkdir ../wheel && cd ../wheel
            mkdir -p parcel parcel-1.0.dist-info
            echo 'def main(): print("delivered")' >parcel/__init__.py
            printf 'Metadata-Version: 2.1\nName: parcel\nVersion: 1.0\n' >parcel-1.0.dist-info/METADATA
            printf 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n' \
                >parcel-1.0.dist-info/WHEEL
            printf '[console_scripts]\nparcel = parcel:main\n' >parcel-1.0.dist-info/entry_points.txt
            printf 'parcel/__init__.py,,\nparcel-1.0.dist-info/METADATA,,\nparcel-1.0.dist-info/WHEEL,,\n' \
                >parcel-1.0.dist-info/RECORD
            python3 -m zipfile --create ../parcel-1.0-py3-none-any.whl parcel parcel-1.0.dist-info
            cd - >../log
            python3 -m pip --python environment/bin/python install --quiet --no-index --disable-pip-version-check \
                ../parcel-1.0-py3-none-any.whl 2>../log
            environment/bin/parcel
            """
        )
        #expect(text == "delivered\n")
    }

    private static let vim = ["/usr/bin/vim", "/usr/bin/vim.tiny"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(.enabled(if: vim != nil, "there is no vim"), arguments: ["yes", "no", "auto"])
    func `vim saves a text, and leaves a backup and no swap file`(backupcopy: String) throws {
        let text = try succeeds(
            """
            echo one >text && chmod 640 text
            for n in {1..5}; do
                \(Self.vim ?? "") -u NONE -i NONE -n -es -c 'set backup backupskip= writebackup fsync' \
                    -c 'set backupcopy=\(backupcopy)' \
                    -c "normal Goline $n" -c 'wq' text
            done
            cat text~ | tail -1 && tail -1 text && stat -c %a text && ls -A
            """
        )
        #expect(text == "line 4\nline 5\n640\ntext\ntext~\n")
    }

    @Test func `an office program locks, saves beside and renames over, as LibreOffice does`() throws {
        let script = """
            import fcntl, os
            def save(number):
                lock = os.open('.~lock.letter.odt#', os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
                os.write(lock, b',user,host,now;'); os.close(lock)
                document = os.open('letter.odt', os.O_RDWR)
                fcntl.lockf(document, fcntl.LOCK_EX | fcntl.LOCK_NB)
                temporary = os.open('lu%d.tmp' % number, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
                os.ftruncate(temporary, 0)
                text = (b'%d' % number) * 50000
                for start in range(0, len(text), 32768): os.pwrite(temporary, text[start:start + 32768], start)
                os.lseek(temporary, 0, os.SEEK_END); os.fsync(temporary)
                backup = os.open('letter.odt.bak', os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
                os.sendfile(backup, document, 0, os.fstat(document).st_size); os.close(backup)
                os.chmod('lu%d.tmp' % number, os.stat('letter.odt').st_mode & 0o777)
                os.rename('lu%d.tmp' % number, 'letter.odt')
                os.close(temporary); os.close(document); os.unlink('.~lock.letter.odt#')
                assert open('letter.odt', 'rb').read() == text
            open('letter.odt', 'wb').write(b'0' * 50000)
            for number in range(1, 8): save(number)
            assert open('letter.odt.bak', 'rb').read() == b'6' * 50000
            print(' '.join(sorted(os.listdir('.'))))
            """
        let result = try runCommand("/usr/bin/python3", ["-c", script], directory: mount.path)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text == "letter.odt letter.odt.bak\n")
    }
}
