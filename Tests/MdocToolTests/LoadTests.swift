import Primitives
import Testing

@testable import MdocTool

/// `mdoc bench --server --rate`: what its figures count, and its arguments.
@Suite struct LoadTests {
  @Test func onlyFlowsThatEndWhileTheLoadLastsAreGoodput() {
    var figures = LoadFigures(rate: 100, seconds: 2)
    for end in [0.1, 0.5, 1.9, 2.0, 3.5] { figures.noteFlow(0.01, endedAt: end) }
    #expect(figures.perSecond == [2, 1, 1, 1])
    #expect(figures.goodput == 1.5)
    #expect(figures.json["verified_per_second"] == JSON.double(1.5))
    #expect(figures.flows.count == 5)
  }

  @Test func percentilesAreOfWhatWasMeasured() {
    #expect(LoadFigures.percentile([], 99) == 0)
    #expect(LoadFigures.percentile([3, 1, 2], 50) == 2)
    #expect(LoadFigures.percentile((1...1_000).map(Double.init).shuffled(), 99) == 991)
  }

  @Test(arguments: [
    ["--url", "https://id.example"], ["--url", "http://127.0.0.1:99999"], ["--seconds", "0"], ["--answers", "0"],
  ])
  func whatCannotBeLoadedIsAnError(arguments: [String]) async {
    let run = await Run(["bench", "--server", "--rate", "10"] + arguments)
    #expect(run.status == 64)
    #expect(run.hasOneLineOfError)
  }
}
