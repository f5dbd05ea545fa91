// The protocol of the harnesses in Kotlin: reads questions, and replies to each with a line.

import com.google.gson.Gson
import com.google.gson.JsonObject
import com.google.gson.JsonParser
import java.io.PrintStream
import java.util.Base64

/** The verifier and its claims. */
data class Description(
    val name: String,
    val version: String,
    val profiles: List<String>,
    /** The rules of a relying party that the verifier has no option for. */
    val leaves: List<String>,
    /** The documented calls, with their options. */
    val use: String,
    val documentation: String,
    val language: String = "Kotlin ${KotlinVersion.CURRENT}, Java ${System.getProperty("java.version")}",
)

/** A case. */
class Question(val json: JsonObject) {
    val protocol: String get() = json["protocol"].asString
    val validationTime: String get() = json["validation_time"].asString
    val input: ByteArray get() = bytes(json["input"].asString)
    val session: JsonObject get() = json["session"].asJsonObject

    /** The types of the requested documents. */
    val docTypes: List<String>
        get() = json["request"].asJsonObject["documents"].asJsonArray.map { it.asJsonObject["doc_type"].asString }

    /** The certificates of the trusted anchors, DER. */
    val trustedCertificates: List<ByteArray>
        get() {
            val trusted = json["trust_anchors"].asJsonArray.map { it.asString }
            return json["anchors"].asJsonArray.map { it.asJsonObject }
                .filter { it["name"].asString in trusted }
                .map { bytes(it["certificate"].asString) }
        }

    fun sessionBytes(member: String): ByteArray = bytes(session[member].asString)
}

/** Thrown by `verify` for a case that the verifier does not claim to judge. The message is the reason. */
class Unsupported(reason: String) : Exception(reason)

fun bytes(encoded: String): ByteArray = Base64.getUrlDecoder().decode(encoded)

/** Replies until the end of the input. `verify` returns if the verifier accepts, and throws if it rejects. */
fun serve(description: Description, verify: (Question) -> Unit) {
    // Standard output has only replies: what a library prints goes to standard error.
    val output = PrintStream(System.out, false, "UTF-8")
    System.setOut(System.err)
    System.`in`.bufferedReader().forEachLine { line ->
        output.println(reply(line, description, verify))
        output.flush()
    }
}

private fun reply(line: String, description: Description, verify: (Question) -> Unit): JsonObject {
    val question = try {
        JsonParser.parseString(line).asJsonObject
    } catch (error: RuntimeException) {
        return verdict("error", "reason", error.toString())
    }
    if (question.has("describe")) return Gson().toJsonTree(description).asJsonObject
    // Only exceptions are rejections. An Error, such as a stack overflow, ends the process and is reported as a crash.
    val reply = try {
        verify(Question(question))
        verdict("accepted")
    } catch (error: Unsupported) {
        verdict("unsupported", "reason", error.message ?: "")
    } catch (error: Exception) {
        verdict("rejected", "note", error.toString())
    }
    return reply.apply { add("id", question["id"]) }
}

private fun verdict(name: String, member: String? = null, text: String = "") = JsonObject().apply {
    addProperty("verdict", name)
    if (member != null) addProperty(member, text.take(200))
}
