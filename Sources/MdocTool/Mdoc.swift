@main
struct MdocTool {
  static func main() {}
}
