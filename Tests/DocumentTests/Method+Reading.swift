import CofferCore
import CofferTestSupport
import CofferWire

extension Method {
    /// Why the method does not take parameters; `nil` if it does.
    func refusal(of params: JSONObject) -> CofferError? {
        do throws(CofferError) {
            _ = try parameters.init(params: params)
            return nil
        } catch {
            return error
        }
    }

    /// The parameters that the method lists when it gets an unknown one.
    func parametersRead(_ rpc: OpenRPC) throws -> [String] {
        var params = try rpc.leastParameters(of: self)
        params.set("nobodyKnowsThis", true)
        let hint = refusal(of: params)?.hint ?? ""
        return hint.matches(of: /'(\w+)'/).map { String($0.1) }
    }

    /// What the method says is missing, one parameter after the other.
    func parametersMissed(_ rpc: OpenRPC) throws -> [String] {
        let least = try rpc.leastParameters(of: self)
        var params = JSONObject()
        var missed: [String] = []
        while let match = refusal(of: params)?.message.firstMatch(of: /parameter '(\w+)' is missing/) {
            let name = String(match.1)
            missed.append(name)
            guard let value = least[name] else { break }
            params.set(name, value)
        }
        return missed
    }
}
