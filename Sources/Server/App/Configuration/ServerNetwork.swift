import HTTP
import Network
import Sessions
import Trust

/// What a server reaches the web with. It outlives a reading of the configuration: what was fetched stays known.
package struct ServerNetwork: Sendable {
  /// Counts what is fetched, for the metrics.
  let fetches: FetchLog
  let fetcher: any ListFetcher
  let revocation: any RevocationSource

  /// The web's.
  init() throws(StartError) {
    fetches = FetchLog()
    fetcher = try Self.webFetcher(fetches)
    revocation = RevocationChecker(fetcher: fetcher, executor: WorkerThreads.shared)
  }

  private init(fetcher: any ListFetcher) {
    fetches = FetchLog()
    self.fetcher = fetcher
    revocation = NoRevocationSource()
  }

  /// One that reaches nothing, to check a configuration with.
  static let none = ServerNetwork(fetcher: StaticListFetcher())

  package static func webFetcher(_ log: FetchLog) throws(StartError) -> WebListFetcher {
    do throws(WebListFetcher.StartError) {
      return try WebListFetcher(.init(observer: log))
    } catch {
      throw .unavailable(error.description)
    }
  }
}

/// Where a server's configuration came from, and what a new reading of it needs of the one before.
struct ConfigurationSource: Sendable {
  let path: String
  let environment: EnvironmentSecrets
  let network: ServerNetwork
}
