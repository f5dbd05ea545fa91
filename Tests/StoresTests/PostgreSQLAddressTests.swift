import Sessions
import Testing

@testable import Stores

@Suite("The address of a PostgreSQL database")
struct PostgreSQLAddressTests {
  @Test(
    "this machine needs no TLS",
    arguments: [
      "postgresql://127.0.0.1/mdoc", "postgres://mdoc@localhost:5433/mdoc", "postgresql://[::1]/mdoc",
      "postgresql:///mdoc?host=/run/postgresql", "postgresql://db.example/mdoc?hostaddr=127.0.0.2",
    ])
  func local(_ url: String) throws {
    _ = try PostgreSQLAddress(url)
  }

  @Test(
    "anything else must prove who it is, every host of several, and by whatever name",
    arguments: [
      "postgresql://db.example/mdoc", "postgresql://10.0.0.7/mdoc", "postgresql://[2001:db8::1]/mdoc",
      "postgresql://127.0.0.1,db.example/mdoc", "postgresql://localhost/mdoc?hostaddr=10.0.0.7",
      "postgresql:///mdoc?host=db.example", "postgresql://127.0.0.1.example/mdoc",
    ])
  func remote(_ url: String) throws {
    let separator = url.contains("?") ? "&" : "?"
    for mode in ["", "sslmode=require", "sslmode=verify-ca", "sslmode=disable"] {
      #expect {
        try PostgreSQLAddress(mode.isEmpty ? url : url + separator + mode)
      } throws: { error in
        (error as? ConfigurationError)?.message.contains("sslmode=verify-full") == true
      }
    }
    _ = try PostgreSQLAddress(url + separator + "sslmode=verify-full")
  }

  @Test(
    "what is no address is refused without being repeated",
    arguments: [
      "sqlite:x", "postgresql://u:se%zzcret@127.0.0.1/mdoc", "postgresql://u:secret@127.0.0.1/mdoc?secret=1",
      "host=127.0.0.1 password=secret", "postgresql:///mdoc?service=secret",
      // Unescaped, a part of the password would be read as a host, a port or a database.
      "postgresql://u:pass@secret@127.0.0.1/mdoc", "postgresql://u:pass/secret@127.0.0.1/mdoc",
      "postgresql://u:pass?secret@127.0.0.1/mdoc", "postgresql://u:se@cr@secret@127.0.0.1,localhost/mdoc",
    ])
  func refused(_ url: String) throws {
    #expect {
      try PostgreSQLAddress(url)
    } throws: { error in
      (error as? ConfigurationError)?.message.contains("secret") == false
    }
  }

  @Test("what is printed of it is hosts, ports and database, and never the password")
  func description() throws {
    let address = try PostgreSQLAddress(
      "postgresql://u:secret@127.0.0.1:5433,localhost/mdoc?password=secret&application_name=x")
    #expect(address.description == "postgresql://127.0.0.1:5433,localhost/mdoc")
    var dumped = ""
    dump(address, to: &dumped)
    for text in ["\(address)", String(reflecting: address), dumped] { #expect(!text.contains("secret")) }
  }
}
