import Base
import Testing

@testable import MdocTool

/// `mdoc serve --check-config` and `--config-schema`.
@Suite struct CheckConfigurationTests {
  @Test func `every problem is printed with its member, and the status is 78`() async throws {
    let folder = try Scratch()
    let file = try folder.write("mdoc.json", #"{"listen": "localhost:80", "verbose": true, "relying_parties": []}"#)
    let run = await Run("serve", "--check-config", "--config", file)
    #expect(run.status == 78 && run.hasOneLineOfError && run.error.contains("6 problems"), "\(run.error)")
    let pointers = run.output.split(separator: "\n").map { $0.dropFirst(file.count + 2).prefix { $0 != ":" } }
    #expect(Set(pointers) == ["/listen", "/verbose", "/store", "/trust", "/sealing_keys", "/relying_parties"])
    let json = await Run("serve", "--check-config", "--json", "--config", file)
    #expect(json.status == 78)
    #expect(try json.json()["is_good"] == false)
    #expect(try json.json()["problems"]?.array?.count == pointers.count)
  }

  @Test func `a file that is not there is a problem, too`() async throws {
    let run = await Run("serve", "--check-config", "--config", "/nonexistent/mdoc.json")
    #expect(run.status == 78)
    #expect(run.output == "/nonexistent/mdoc.json: cannot be read: there is no such file or folder\n")
  }

  @Test func `the schema is printed without a configuration`() async throws {
    let run = await Run("serve", "--config-schema")
    #expect(run.status == 0)
    #expect(try run.json()["$schema"] == "https://json-schema.org/draft/2020-12/schema")
  }

  @Test func `a check is of a configuration`() async {
    #expect(await Run("serve", "--check-config").status == 64)
    #expect(await Run("serve", "--check-config", "--test-mode").status == 64)
  }
}
