internal import ArgumentParser

/// The script of completions for a shell: the argument parser's, which does not know the aliases of verbs.
enum CompletionScript {
    private static let option = "--generate-completion-script"

    /// The script that a command line asks for; `nil` if it asks for none, or for one of a shell that there is not.
    static func requested(by words: ArraySlice<String>, of root: any ParsableCommand.Type) -> String? {
        guard let first = words.first, words.count <= 2 else { return nil }
        let shell: CompletionShell?
        if first == option {
            shell = words.dropFirst().first.map { CompletionShell(rawValue: $0) } ?? .autodetected()
        } else if first.hasPrefix(option + "="), words.count == 1 {
            shell = CompletionShell(rawValue: String(first.dropFirst(option.count + 1)))
        } else {
            shell = nil
        }
        return shell.map { text(for: $0, of: root) }
    }

    private static func text(for shell: CompletionShell, of root: any ParsableCommand.Type) -> String {
        let script = withoutLoneHyphen(quoting(root.completionScript(for: shell), for: shell), for: shell)
        let aliases = root.configuration.aliasesOfVerbs
        guard !aliases.isEmpty, let place = place(in: script, for: shell) else { return script }
        return script.replacingCharacters(in: place.range, with: place.lines(aliases))
    }

    /// The script, which would insert a hyphen behind a finished name, the common beginning of all options: zsh lists them,
    /// and in bash the function that ``quoting(_:for:)`` adds offers none until a hyphen is typed.
    private static func withoutLoneHyphen(_ script: String, for shell: CompletionShell) -> String {
        guard shell == .zsh, let start = script.firstRange(of: "\n_coffer() {"),
            let end = script[start.upperBound...].firstRange(of: #"    return "${ret}""#)
        else { return script }
        let listing = #"    [[ -z "${PREFIX}" && "${compstate[unambiguous]}" == -* ]] && compstate[insert]=''"#
        return script.replacingCharacters(in: end.lowerBound..<end.lowerBound, with: listing + "\n")
    }

    /// The script with a function around its own that quotes names which contain `$` or a backtick.
    ///
    /// To readline, which bash has quote the others, these begin an expansion, and stay as they are.
    private static func quoting(_ script: String, for shell: CompletionShell) -> String {
        let registration = "complete -o filenames -F _coffer coffer"
        guard shell == .bash, let place = script.firstRange(of: registration) else { return script }
        return script.replacingCharacters(
            in: place,
            with: #"""
                _coffer_quoted() {
                    _coffer "${@}"
                    [[ -n "${COMP_WORDS[COMP_CWORD]}" || " ${COMPREPLY[*]}" == *\ [!-]* ]] || COMPREPLY=()
                    [[ "${COMPREPLY[*]}" == *[\$\`]* && "${COMP_WORDS[COMP_CWORD]}" != [\'\"]* ]] || return 0
                    compopt +o filenames
                    local -i index
                    for index in "${!COMPREPLY[@]}"; do
                        printf -v "COMPREPLY[index]" %q "${COMPREPLY[index]}"
                    done
                }

                complete -o filenames -F _coffer_quoted coffer
                """#
        )
    }

    /// Where the script has found out the verb, and what replaces that.
    private static func place(in script: String, for shell: CompletionShell) -> Place? {
        switch shell {
        case .bash:
            let verb = #"local -r subcommand="${unparsed_words[0]}""#
            return script.firstRange(of: verb).map {
                Place(range: $0, before: #"local subcommand="${unparsed_words[0]}""# + "\n    ") { alias, verb in
                    "[[ \"${subcommand}\" == \(alias) ]] && subcommand=\(verb)"
                }
            }
        case .zsh:
            let choice = #"case "${words[1]}" in"#
            return script.firstRange(of: choice).map {
                Place(range: $0, after: "\n        " + choice) { alias, verb in
                    "[[ \"${words[1]}\" == \(alias) ]] && words[1]=\(verb)"
                }
            }
        case .fish:
            let root = "__coffer_parse_subcommand 0 'version' 'h/help'"
            return script.firstRange(of: root).map {
                Place(range: $0, before: root + "\n        ") { alias, verb in
                    "test \"$unparsed_tokens[1]\" = \(alias); and set unparsed_tokens[1] \(verb)"
                }
            }
        default: return nil
        }
    }

    private struct Place {
        let range: Range<String.Index>
        var before = ""
        var after = ""
        let line: (String, String) -> String

        func lines(_ aliases: [(alias: String, verb: String)]) -> String {
            before + aliases.map { line($0.alias, $0.verb) }.joined(separator: "\n        ") + after
        }
    }
}

extension String {
    /// The string with a part replaced.
    fileprivate func replacingCharacters(in range: Range<String.Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}

extension CommandConfiguration {
    /// The other names of the verbs, in groups or not.
    fileprivate var aliasesOfVerbs: [(alias: String, verb: String)] {
        subcommands.flatMap { command in
            command.configuration.aliases.map { ($0, command.configuration.commandName ?? "") }
        }
    }
}
