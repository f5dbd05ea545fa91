import CBOR
import COSE
import Cryptography

/// DeviceEngagement (ISO/IEC 18013-5:2021, 8.2.1.1), of which a session needs the device's ephemeral key.
struct DeviceEngagement {
  /// EDeviceKey; nil where the engagement has none that can be read.
  let deviceKey: PublicKey?

  /// Nil where the bytes are no map.
  init?(parsing encoded: [UInt8]) {
    guard let item = try? CBORItem(parsing: encoded), item.kind == .map else { return nil }
    // Security = [cipher suite identifier, EDeviceKeyBytes]
    let security = item[label: 1]?.elements.map { Array($0) } ?? []
    deviceKey = security.count > 1 ? security[1].embedded.flatMap { try? COSEKey.publicKey(from: $0) } : nil
  }
}
