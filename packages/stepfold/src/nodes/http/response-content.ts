import { exactJson } from "../../core/values/exact-json.ts";
import type { Json } from "../../core/values/json.ts";
import type { HttpData } from "./http-data.ts";
import { FatalHttpError } from "./http-error.ts";

/** A body, with its content type. */
export interface Content {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** The name of the request and its status, for errors. */
  readonly label: string;
  readonly wanted: NonNullable<HttpData["response"]>;
  readonly numbers: NonNullable<HttpData["numbers"]>;
}

const jsonType = /^application\/(?:[\w.+-]+\+)?json$|^text\/json$/;
const textType =
  /^text\/|^application\/(?:[\w.+-]+\+)?xml$|^application\/(?:javascript|x-www-form-urlencoded|x-ndjson|yaml|x-yaml|graphql)$/;

/**
 * Returns the body as a JSON value. `auto` decides by the content type: JSON, then text; without a content type, text if the body is
 * UTF-8 without zero bytes. An empty body is null; as `text` and `base64` it is an empty text.
 *
 * @throws FatalHttpError `HTTP_BODY_UNREADABLE` for a body that should be JSON and is not, and for binary content
 */
export function contentOf({ bytes, contentType, label, wanted, numbers }: Content): Json {
  if (wanted === "base64") return bytes.toString("base64");
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  const text = (): string => decode(bytes, charsetOf(parameters));
  if (wanted === "text") return text();
  if (bytes.length === 0) return null;
  if (wanted === "json" || jsonType.test(type)) return parse(text(), numbers, label);
  if (textType.test(type)) return text();
  if (type === "" && !bytes.includes(0) && isUtf8(bytes)) return text();
  throw new FatalHttpError(
    "HTTP_BODY_UNREADABLE",
    `${label} answered with binary content (${type.slice(0, 100) || "of no stated type"}). Set response to "base64" to get it`,
  );
}

/**
 * Returns the body of a response with a failure status. A body that cannot be read as wanted
 * must not hide the status, so it is read in other ways then, and is null if all fail.
 */
export function contentOfFailure(content: Content): Json {
  for (const wanted of [content.wanted, "auto", "text"] as const) {
    try {
      if (wanted !== "text" || isUtf8(content.bytes)) return contentOf({ ...content, wanted });
    } catch (error) {
      if (!(error instanceof FatalHttpError)) throw error;
    }
  }
  return null;
}

function parse(text: string, numbers: Content["numbers"], label: string): Json {
  try {
    return numbers === "double" ? (JSON.parse(text) as Json) : exactJson(text);
  } catch (error) {
    throw new FatalHttpError("HTTP_BODY_UNREADABLE", `${label} answered with content that is not valid JSON`, { cause: error });
  }
}

function charsetOf(parameters: readonly string[]): string {
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  return charset?.slice("charset=".length).replaceAll('"', "") ?? "utf-8";
}

function decode(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // An unknown charset is probably UTF-8 with a misspelt name.
    return new TextDecoder().decode(bytes);
  }
}

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
