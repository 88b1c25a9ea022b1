import CofferCore
import CofferTestSupport
import CofferWire

/// Counts the answers to calls, by method, state and outcome.
final class MethodTally {
    private struct Answers {
        var count = 0
        var results: [MethodScene: Int] = [:]
        var codes: [String: Int] = [:]
    }

    private var methods: [String: Answers] = [:]

    func add(_ method: String, _ scene: MethodScene, _ code: ErrorCode?) {
        var answers = methods[method] ?? Answers()
        answers.count += 1
        if let code { answers.codes[code.rawValue, default: 0] += 1 } else { answers.results[scene, default: 0] += 1 }
        methods[method] = answers
    }

    /// A line for each method: how many calls had a result, in which states, and what the others had.
    func lines(_ rpc: OpenRPC) -> [String] {
        rpc.methods.map { method in
            let name = method["name"]?.stringValue ?? ""
            let answers = methods[name] ?? Answers()
            let scenes = MethodScene.allCases.compactMap { scene in answers.results[scene].map { "\(scene) \($0)" } }
            let codes = answers.codes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }
            let count = answers.results.values.reduce(0, +)
            return "\(name): \(count) of \(answers.count) (\(scenes.joined(separator: ", "))); "
                + codes.joined(separator: ", ")
        }
    }
}
