import App

/// `mdoc serve --check-config` and `--config-schema`: about the configuration, without a server.
enum CheckConfiguration {
  static func check(_ file: String, isJSON: Bool, _ console: Console) throws(Failure) -> ExitStatus {
    let check = ConfigurationCheck(path: file)
    if isJSON {
      console.print(check.json)
    } else {
      for problem in check.problems { console.print(Printable.line("\(file): \(problem.text)")) }
      for warning in check.warnings { console.print(Printable.line("\(file): warning: \(warning)")) }
    }
    let count = check.problems.count
    guard count == 0 else {
      throw .configuration("\(file): \(count) problem\(count == 1 ? "" : "s"); a server does not start with it")
    }
    if !isJSON { console.print("\(Printable.line(file)): good") }
    return .done
  }

  static func printSchema(_ console: Console) -> ExitStatus {
    console.print(ConfigurationSchema.json)
    return .done
  }
}
