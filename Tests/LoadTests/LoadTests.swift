import Base
import Testing

@testable import Load

/// `load rate`: its figures and its arguments.
@Suite struct LoadTests {
  @Test func onlyFlowsThatEndWhileTheLoadLastsAreGoodput() {
    var figures = LoadFigures(rate: 100, seconds: 2)
    for end in [0.1, 0.5, 1.9, 2.0, 3.5] { figures.noteFlow(due: end - 0.05, endedAt: end) }
    #expect(figures.perSecond == [2, 1, 1, 1])
    #expect(figures.goodput == 1.5)
    #expect(figures.json["verified_per_second"] == JSON.double(1.5))
    #expect(figures.flows.count == 4)
  }

  @Test func aLoadIsFollowedByALighterOne() {
    let schedule = LoadSchedule(rate: 100, seconds: 2, afterwards: 10)
    #expect(schedule.count == 200 + 150)
    #expect(schedule.due(199) == 1.99 && schedule.due(200) == 2 && schedule.due(210) == 3)
    #expect(LoadSchedule(rate: 100, seconds: 2, afterwards: 0).count == 200)
  }

  @Test func recoveryLastsUntilTheLastRefusalAfterTheLoad() {
    var figures = LoadFigures(rate: 100, seconds: 2)
    figures.noteRefused(due: 1.9)
    #expect(figures.lastRefused == nil)
    for due in [2.5, 3.25, 2.75] { figures.noteRefused(due: due) }
    #expect(figures.lastRefused == 1.25)
  }

  @Test func theFloorsShareIsOfAllThreadsOfTheServer() {
    var figures = LoadFigures(rate: 100, seconds: 2)
    #expect(figures.floorShare == nil)
    for end in [0.5, 1.5] { figures.noteFlow(due: 0, endedAt: end) }
    figures.floor = 0.25
    figures.processors = ["mdoc-verify": 0.75, "mdoc-store": 0.25]
    #expect(figures.floorShare == 0.5)
  }

  @Test func percentilesAreOfWhatWasMeasured() {
    #expect(LoadFigures.percentile([], 99) == 0)
    #expect(LoadFigures.percentile([3, 1, 2], 50) == 2)
    #expect(LoadFigures.percentile((1...1_000).map(Double.init).shuffled(), 99) == 991)
  }

  @Test(arguments: [
    ["rate", "--url", "https://id.example", "--rate", "1"], ["rate", "--url", "http://127.0.0.1:99999", "--rate", "1"],
    ["rate", "--rate", "10", "--seconds", "0"], ["rate", "--rate", "10", "--responses", "0"], ["rate"], ["store"],
    ["server", "--fast", "1"], ["server", "--connections"], [],
    ["nodes", "--node", "https://id.example", "--seed", "01"],
    ["nodes", "--node", "http://127.0.0.1:99999", "--seed", "01"],
    ["nodes", "--node", "http://127.0.0.1:8080"], ["nodes", "--node", "http://127.0.0.1:8080", "--seed", "x"],
    ["nodes", "--node", "http://127.0.0.1:8080", "--seed", "01", "--sessions", "0"],
  ])
  func whatCannotBeLoadedIsAnError(words: [String]) async {
    let outcome = await Program.run(words)
    #expect(outcome.status == 64 && outcome.output.isEmpty)
    #expect(outcome.error.hasPrefix("load: "))
  }
}
