import App
import Base
import TestMode

/// `mdoc demo`: a server in test mode, one good answer and three that are refused, over real HTTP.
enum DemoCommand {
  static let command = Command(
    "demo", "show a whole verification over HTTP, with a mock wallet, and answers that are refused",
    options: [.json],
    notes: [
      "It starts a server in test mode on a free loopback port with a temporary SQLite file, and stops it at the end. "
        + "Nothing is left behind, and nothing that it verifies is real.",
      "Exit status: 0 all went as it must, 70 something did not, 75 the server could not start.",
    ],
    examples: [
      .init("See it work", "mdoc demo"),
      .init("The sessions as the HTTP API returns them", "mdoc demo --json"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let mode: TestServer
    do throws(StartError) {
      mode = try TestServer.start()
    } catch {
      throw .temporary("the server did not start: \(error.message)")
    }
    let flow = DemoFlow(client: LoopbackClient(port: mode.server.listen.port, token: mode.apiKey))
    let script = DemoScript(flow: flow, console: console, printsJSON: arguments.has(.json))
    let fault: LoopbackClient.Fault?
    do throws(LoopbackClient.Fault) {
      try await script.run(at: mode.baseURL)
      fault = nil
    } catch {
      fault = error
    }
    await mode.server.stop()
    if let fault { throw .internal("the demonstration failed: \(fault.reason)") }
    script.say("The server is stopped, its store removed.")
    return .done
  }
}
