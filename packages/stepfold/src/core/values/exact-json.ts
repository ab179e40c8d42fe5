import type { Json } from "./json.ts";

/** Text without so many digits in a row, and without an exponent, has no number that a JavaScript number cannot hold. */
const suspicious = /\d{16}|\d[eE]/;
const whole = /^-?\d+$/;

/**
 * Parses JSON text from outside. A whole number that a JavaScript number cannot hold becomes text, exactly as it is written, so that no id is
 * changed silently. So does a number beyond the largest one (`1e400`). Numbers with a fraction or an exponent stay numbers, as in `JSON.parse`.
 *
 * ```ts
 * exactJson('{ "id": 7615917337495251231, "price": 0.1 }'); // { id: "7615917337495251231", price: 0.1 }
 * ```
 *
 * @throws SyntaxError if the text is not JSON
 */
export function exactJson(text: string): Json {
  return JSON.parse(text, suspicious.test(text) ? exactly : undefined) as Json;
}

/** The third argument (JSON.parse source text access, ECMAScript 2026) has the text of a number. */
function exactly(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined || isExact(value, source)) return value;
  return source;
}

function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  return Number.isSafeInteger(value) || !whole.test(source) || BigInt(source) === BigInt(value);
}
