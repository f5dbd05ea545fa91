// A harness for a verifier in Kotlin or Java: fill in `describe` and `verify`, and add the verifier to build.gradle.kts.
//
//     gradle installDist
//     mdoc vectors run --exec build/install/mdoc-harness/bin/mdoc-harness

import com.google.gson.JsonObject
import com.google.gson.JsonParser
import java.io.PrintStream
import java.time.Instant
import java.util.Base64

fun describe() = JsonObject().apply {
    addProperty("name", "my-verifier")
    addProperty("version", "0.1.0")
    addProperty("language", "Kotlin ${KotlinVersion.CURRENT}, Java ${System.getProperty("java.version")}")
    add("profiles", JsonParser.parseString("""["core"]"""))
    addProperty("use", "verify with the trust anchors, the transcript, the time and the document type.")
    addProperty("documentation", "https://example.org/my-verifier")
}

/** Judges one DeviceResponse with the verifier's strictest documented use. What it throws is a rejection. */
fun verify(question: JsonObject): JsonObject {
    val protocol = question["protocol"].asString
    if (protocol != "proximity") return unsupported("mdoc over $protocol")
    val response = bytes(question["input"].asString)
    val transcript = bytes(question["session"].asJsonObject["transcript"].asString)
    val time = Instant.parse(question["validation_time"].asString)
    val docTypes = question["request"].asJsonObject["documents"].asJsonArray.map { it.asJsonObject["doc_type"].asString }
    val trusted = question["trust_anchors"].asJsonArray.map { it.asString }
    val anchors = question["anchors"].asJsonArray.map { it.asJsonObject }
        .filter { it["name"].asString in trusted }
        .map { bytes(it["certificate"].asString) }

    // MyVerifier(anchors).verify(response, transcript, time, docTypes)
    // return accepted()
    listOf(response, transcript, time, docTypes, anchors)
    return unsupported("the template judges nothing yet")
}

fun accepted() = answer("accepted")

fun unsupported(reason: String) = answer("unsupported").apply { addProperty("reason", reason) }

fun rejected(error: Exception) = answer("rejected").apply { addProperty("note", error.toString().take(200)) }

fun answer(verdict: String) = JsonObject().apply { addProperty("verdict", verdict) }

fun bytes(encoded: String): ByteArray = Base64.getUrlDecoder().decode(encoded)

fun answer(line: String, verifier: (JsonObject) -> JsonObject): JsonObject {
    val question = try {
        JsonParser.parseString(line).asJsonObject
    } catch (error: RuntimeException) {
        return answer("error").apply { addProperty("reason", error.toString().take(200)) }
    }
    if (question.has("describe")) return describe()
    // Only exceptions are rejections: an Error, such as a stack that overflows, ends the process and is reported so.
    val reply = try { verifier(question) } catch (error: Exception) { rejected(error) }
    return reply.apply { add("id", question["id"]) }
}

fun main() {
    // Only answers may stand on standard output: what a library prints there goes to standard error.
    val output = PrintStream(System.out, false, "UTF-8")
    System.setOut(System.err)
    System.`in`.bufferedReader().forEachLine {
        output.println(answer(it, ::verify))
        output.flush()
    }
}
