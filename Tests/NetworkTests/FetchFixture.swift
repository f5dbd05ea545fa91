import Base
import Network
import Trust

/// A fetcher, its reported events, and rules that allow this machine.
struct FetchFixture {
  let log = FetchLog()
  let fetcher: WebListFetcher

  init(authorities: String? = nil, pinnedNames: [String] = []) throws {
    var configuration = WebListFetcher.Configuration(authorities: authorities, observer: log)
    configuration.pinnedNames = pinnedNames
    fetcher = try WebListFetcher(configuration)
  }

  static let rules = FetchRules(allowsPlainHTTP: true, allowsLoopback: true)

  func outcome(_ address: String, _ rules: FetchRules = rules) async -> Result<FetchedList, FetchError> {
    do { return .success(try await fetcher.fetch(address, allowing: rules)) } catch { return .failure(error) }
  }

  /// The error; nil if a list arrived.
  func fault(_ address: String, _ rules: FetchRules = rules) async -> FetchError? {
    if case .failure(let error) = await outcome(address, rules) { error } else { nil }
  }
}

extension FetchRules {
  func with(_ change: (inout FetchRules) -> Void) -> FetchRules {
    var rules = self
    change(&rules)
    return rules
  }
}

extension LoopbackServer.Part {
  static func ok(_ body: String = "a list", headers: String = "") -> Self {
    .text("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")
  }

  static func ok(_ body: [UInt8], headers: String) -> [Self] {
    [.text("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\(headers)\r\n"), .bytes(body)]
  }

  static func status(_ status: Int, headers: String = "", body: String = "no list") -> Self {
    .text("HTTP/1.1 \(status) Said\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")
  }

  static func redirect(to location: String, status: Int = 302) -> Self {
    .status(status, headers: "Location: \(location)\r\n")
  }
}
