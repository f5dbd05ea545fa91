import App
import Base
import Glibc
import Mock

/// What `mdoc mock publish` calls.
extension MockPublisher {
  /// Serves the lists of an authority, whatever its addresses were, until SIGTERM or SIGINT.
  package static func run(
    port: UInt16, authority: MockAuthority, announce: (String) -> Void
  ) async throws(StartError) {
    StopSignal.install()
    let publisher = try MockPublisher(port: port, clock: Timestamp.systemNow)
    let authority = authority.publishing(at: publisher.addresses)
    publisher.publish(of: authority)
    publisher.publish(MockAnchorList.all, naming: authority)
    announce(publisher.baseURL)
    fflush(nil)
    await StopSignal.wait()
    await publisher.stop()
  }
}
