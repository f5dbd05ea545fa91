import App
import Base
import Mock
import PKIX
import Presentation

/// Test mode's reader: its requests are signed as a real relying party's, under the mock reader authority.
enum TestReader {
  /// The reader and the authority's own certificate, DER, for wallets that authenticate readers.
  ///
  /// - Parameter host: that of the public address, since ISO/IEC TS 18013-7, Annex B names readers by it.
  static func identity(
    of authority: MockAuthority, named host: String, at now: Timestamp
  ) throws(StartError) -> (reader: ReaderIdentity, root: [UInt8]) {
    do {
      let mock = try authority.reader(dnsName: host, at: now)
      let certificates = try mock.certificates.map { try Certificate(der: $0) }
      return (try ReaderIdentity(key: mock.key, certificates: certificates), mock.root)
    } catch {
      throw .unavailable("the mock reader failed: \(error)")
    }
  }
}
