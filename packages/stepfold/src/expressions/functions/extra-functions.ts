import { failEvaluation } from "../evaluation/frame.ts";
import type { Pure } from "./argument.ts";

/** Functions by name, as in `extraNames`. */
export type ExtraFunctions = ReadonlyMap<string, Pure>;

const words = (text: string): readonly string[] => text.split(" ");

/** Functions of namespaces whose code is loaded only where an expression names one. */
export const extraNamespaces: ReadonlyMap<string, readonly string[]> = new Map([
  ["Math", words("random")],
  ["hash", words("md5 sha1 sha256 sha384 sha512 hmacSha256")],
  ["base64", words("encode decode encodeUrl")],
  ["Date", words("now parse")],
  ["DateTime", words("now utc local fromISO fromMillis fromSeconds fromJSDate")],
]);

/** Functions that stand alone, of the same kind. */
export const extraAlone: ReadonlySet<string> = new Set(words("uuid $if $ifEmpty $min $max"));

/** Methods of the same kind. */
export const extraMethods: ReadonlySet<string> = new Set(
  words(
    "test exec match matchAll search " +
      "toISO toISODate toISOString toMillis toSeconds getTime toFormat format plus minus startOf endOf diffTo extract toDateTime " +
      "getFullYear getMonth getDate getDay getHours getMinutes getSeconds getMilliseconds " +
      "isEmpty isNotEmpty toJsonString parseJson toInt toNumber toFloat toBoolean toTitleCase toSentenceCase urlEncode urlDecode " +
      "base64Encode base64Decode hash removeTags " +
      "first last unique removeDuplicates sum average min max pluck chunk compact randomItem " +
      "round floor ceil abs isEven isOdd keys values hasField hasOwnProperty",
  ),
);

let loaded: ExtraFunctions | null = null;
let isWanted = false;

/** Whether an expression has been compiled that names one, and their code is not there yet. */
export function lacksExtraFunctions(): boolean {
  return isWanted && loaded === null;
}

/** Hands over the code. */
export function provideExtraFunctions(functions: ExtraFunctions): void {
  loaded = functions;
}

/** Notes that an expression needs them. */
export function wantExtraFunctions(): void {
  isWanted = true;
}

/** The function of that name: found when it is called, because its code may come later. */
export function extraFunction(name: string): Pure {
  return (frame, site, self, args) => {
    const pure = loaded?.get(name);
    if (pure === undefined)
      failEvaluation(frame, site.position, `${site.name} is not loaded: await loadFunctions() of stepfold/expressions once before`);
    return pure(frame, site, self, args);
  };
}
