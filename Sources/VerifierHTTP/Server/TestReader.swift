import MockIssuance
import PKIX
import Presentation
import Primitives

/// Test mode's reader: its requests are signed as a real relying party's, under the mock reader authority.
enum TestReader {
  /// The reader and the authority's own certificate, DER, for wallets that authenticate readers.
  static func identity(
    of authority: MockAuthority, at now: Timestamp
  ) throws(StartError) -> (reader: ReaderIdentity, root: [UInt8]) {
    do {
      let mock = try authority.reader(dnsName: "localhost", at: now)
      let certificates = try mock.certificates.map { try Certificate(der: $0) }
      return (try ReaderIdentity(key: mock.key, certificates: certificates), mock.root)
    } catch {
      throw .unavailable("the mock reader failed: \(error)")
    }
  }
}
