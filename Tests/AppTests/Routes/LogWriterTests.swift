import Glibc
import TestSupport
import Testing

@testable import App

@Suite(.onOwnThreads) struct LogWriterTests {
  @Test func `everything written before the close is out after it`() async throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let (reading, writing) = (ends[0], ends[1])
    let read = Task.detached {
      try await blocking { () -> String in
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
          let count = Glibc.read(reading, &chunk, chunk.count)
          guard count > 0 else { return String(decoding: text, as: UTF8.self) }
          text += chunk[..<count]
        }
      }
    }
    let writer = LogWriter(descriptor: writing)
    for number in 0..<5_000 { writer.write("line \(number)") }
    await writer.close()
    await writer.close()
    close(writing)
    let lines = try await read.value.split(separator: "\n")
    #expect(lines.count == 5_000)
    #expect(lines.last == "line 4999")
    close(reading)
  }

  @Test func `a reader that does not read costs lines and not time`() async throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let writer = LogWriter(descriptor: ends[1])
    let line = String(repeating: "x", count: 1 << 16)
    for _ in 0..<64 { writer.write(line) }
    close(ends[0])
    await writer.close()
    close(ends[1])
  }

  @Test func `a reader that stays and does not read does not hold up the stop`() async throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let writer = LogWriter(descriptor: ends[1])
    writer.write(String(repeating: "x", count: 1 << 18))
    let took = await ContinuousClock().measure { await writer.close() }
    #expect(took < .seconds(10))
    // The writer's thread may still be in its write: its own end stays open, or the rest of the line would go to
    // whatever socket of another test got the number next.
    close(ends[0])
  }
}
