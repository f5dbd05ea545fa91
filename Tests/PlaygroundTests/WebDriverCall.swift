import Base
import Bench

/// One call of chromedriver: JSON to and fro over HTTP/1.1.
struct WebDriverCall: Sendable {
  let port: UInt16
  let method: String
  let path: String
  let body: JSON?

  /// The reply's `value`.
  func run() -> Result<JSON, BrowserFault> {
    do throws(ClientConnection.Fault) {
      let connection = try ClientConnection(port: port, headers: ["Connection: close"])
      try connection.send(method, path, body?.serialized() ?? [])
      let reply = try connection.receive()
      guard let json = try? JSON(parsing: reply.body), let value = json["value"] else {
        return .failure(BrowserFault("chromedriver's reply is no JSON: \(path)"))
      }
      guard reply.status == 200 else {
        return .failure(BrowserFault("\(path): \(value["error"]?.string ?? "") \(value["message"]?.string ?? "")"))
      }
      return .success(value)
    } catch {
      return .failure(BrowserFault("\(path): \(error.reason)"))
    }
  }
}
