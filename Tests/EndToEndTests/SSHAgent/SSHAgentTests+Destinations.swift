import CofferTestSupport
import Foundation
import Testing

extension SSHAgentTests {
    /// Keys that `ssh-add -h` restricts to destinations, with two real servers on this machine.
    @Suite struct Destinations {
        private let agent: AgentProcess

        init() throws { agent = try AgentProcess() }

        /// Runs a script while two servers accept `key.pub`: `$a` and `$b` are their names in `known`.
        ///
        /// `login SERVER [OPTION]... COMMAND` logs in.
        private func run(_ script: String) throws -> CommandResult {
            try agent.run(
                """
                set -e; ssh-keygen -q -t ed25519 -N '' -C it -f key; mv key private
                [ "$(id -u)" != 0 ] || mkdir -p /run/sshd
                serve() {
                    for t in ed25519 rsa ecdsa; do ssh-keygen -q -t $t -N '' -f $1_$t; done
                    printf '%s\\n' "HostKey $PWD/$1_ed25519" "HostKey $PWD/$1_rsa" "HostKey $PWD/$1_ecdsa" \\
                        "AuthorizedKeysFile $PWD/key.pub" 'PidFile none' 'UsePAM no' 'StrictModes no' 'PermitRootLogin yes' \\
                        'PasswordAuthentication no' 'KbdInteractiveAuthentication no' 'ListenAddress 127.0.0.1' >$1_config
                    for try in {1..20}; do
                        port=$((20000 + RANDOM % 40000)); /usr/sbin/sshd -D -e -f $1_config -p $port 2>$1_log & server=$!
                        for i in {1..100}; do
                            grep -q 'Server listening' $1_log && break 2; kill -0 $server 2>/dev/null || break; sleep 0.05
                        done
                    done
                    servers="$servers $server"; trap 'kill $servers 2>/dev/null' EXIT
                    for t in ed25519 rsa ecdsa; do echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 $1_$t.pub)" >>known; done
                    declare -g $1="[127.0.0.1]:$port" port_$1=$port
                }
                serve a; serve b
                options="-F none -o UserKnownHostsFile=$PWD/known -o BatchMode=yes"
                login() {
                    local port=port_$1; shift; local options_here=(); while [[ $1 == -* ]]; do options_here+=("$1"); shift; done
                    ssh $options -p ${!port} "${options_here[@]}" 127.0.0.1 "$1" </dev/null 2>/dev/null || echo refused
                }
                set +e
                \(script)
                """
            )
        }

        @Test func `a key logs in to its destinations alone, whatever type their host keys have`() throws {
            let result = try run(
                """
                ssh-add -q -H known -h "$a" private; ssh-add -L | cut -d' ' -f3
                for t in ssh-ed25519 rsa-sha2-256 rsa-sha2-512 ecdsa-sha2-nistp256; do
                    login a -oHostKeyAlgorithms=$t 'echo in'; login b -oHostKeyAlgorithms=$t 'echo in'
                done
                ssh-keygen -q -Y sign -n file -f key.pub key.pub 2>/dev/null || echo refused
                """
            )
            let each = String(repeating: "in\nrefused\n", count: 4)
            #expect(result.text == "it\n\(each)refused\n", "\(result.errors)\(agent.errors)")
            #expect(agent.errors.contains("it is restricted to logins to some hosts"))
            // It is so after a restart of the agent, too: the constraints are in the vault.
            agent.stop()
            try agent.start()
            #expect(try agent.run("ssh-keygen -q -Y sign -n file -f key.pub key.pub").status != 0)
        }

        @Test func `a user and the way to a host are a part of a destination`() throws {
            let result = try run(
                """
                me=$(id -un)
                ssh-add -q -H known -h "nobody-$me@$a" private; login a 'echo in'
                ssh-add -q -H known -h "${me:0:1}*@$a" private; login a 'echo in'
                login a -A "ssh-add -l | grep -c ED25519"
                ssh-add -q -H known -h "$a" -h "$a>$b" private
                login a -A "ssh-add -l | grep -c ED25519; ssh $options -p $port_b 127.0.0.1 echo beyond"
                login b 'echo in'
                ssh-add -q private; login b 'echo in'
                """
            )
            #expect(
                result.text == "refused\nin\n0\nrefused\n1\nbeyond\nrefused\nin\n",
                "\(result.errors)\(agent.errors)"
            )
        }
    }
}
