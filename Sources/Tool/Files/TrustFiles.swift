import PKIX
import Trust

/// Trust anchors as `mdoc verify` and `mdoc trust` take them: for any document type unless their settings say, test
/// anchors included, since whoever names a file here means it.
enum TrustFiles {
  static func anchors(_ paths: [String]) throws(Failure) -> [TrustAnchor] {
    do throws(TrustLoadError) {
      return try TrustAnchorLoader(defaultDocTypes: nil).load(paths)
    } catch {
      throw .unreadable("trust \(error.description)")
    }
  }

  static func store(_ paths: [String]) throws(Failure) -> TrustStore {
    let anchors = try anchors(paths)
    do throws(TrustStoreError) {
      return try TrustStore(anchors: anchors, allowsTestCertificates: true)
    } catch {
      throw .unreadable(
        "trust \(paths.joined(separator: ", ")): no certificates there (.pem, .crt, .cer or .der in a folder)")
    }
  }
}
