import PKCS11
import Testing

@Suite struct TokenURITests {
  @Test func readsPathAndQuery() throws {
    let uri = try TokenURI(
      "pkcs11:token=mdoc;object=reader-1;id=%01%02;type=private?module-path=/usr/lib/x.so&pin-source=file:/run/pin")
    #expect(uri.path == "pkcs11:token=mdoc;object=reader-1;id=%01%02;type=private")
    #expect(uri.modulePath == "/usr/lib/x.so")
    #expect(uri.pinFile == "/run/pin")
    #expect(try TokenURI("pkcs11:object=a?pin-source=/run/pin").pinFile == "/run/pin")
    #expect(try TokenURI("pkcs11:object=a").pinFile == nil)
  }

  @Test(arguments: [
    ("pkcs11:object", "RFC 7512"), ("file:/a", "RFC 7512"), ("pkcs11:object=%zz", "RFC 7512"),
    ("pkcs11:object=a;module-path=/x.so", "does not define"), ("pkcs11:object=a;colour=red", "does not define"),
    ("pkcs11:object=a?pin-value=1234", "pin-source=file:"), ("pkcs11:object=a?module-path=x.so", "not absolute"),
    ("pkcs11:object=a?module-name=softhsm2", "module-path"), ("pkcs11:object=a?pin-source=pin", "not an absolute path"),
    ("pkcs11:object=a?pin-source=file://host/pin", "not an absolute path"),
  ])
  func refuses(text: String, reason: String) throws {
    let error = #expect(throws: TokenError.self) { try TokenURI(text) }
    #expect(error?.detail.contains(reason) == true, "\(error?.detail ?? "")")
    #expect(error?.detail.contains("1234") == false)
    #expect(error?.isTemporary == false)
  }
}
