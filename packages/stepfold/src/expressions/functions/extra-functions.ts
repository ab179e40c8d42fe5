import { failEvaluation } from "../evaluation/frame.ts";
import type { ListedFunction } from "./argument.ts";

/** The extra functions by name, such as `hash.md5` or `isEmpty`. */
export type ExtraFunctions = ReadonlyMap<string, ListedFunction>;

const words = (text: string): readonly string[] => text.split(" ");

/** Functions with a namespace whose code is loaded only if an expression names one of them. */
export const extraNamespaces: ReadonlyMap<string, readonly string[]> = new Map([
  ["Math", words("random")],
  ["hash", words("md5 sha1 sha256 sha384 sha512 hmacSha256")],
  ["base64", words("encode decode encodeUrl")],
  ["Date", words("now parse")],
  ["DateTime", words("now utc local fromISO fromMillis fromSeconds fromJSDate")],
]);

/** Functions without a namespace whose code is loaded in the same way. */
export const extraAlone: ReadonlySet<string> = new Set(words("uuid $if $ifEmpty $min $max"));

/** The methods of times. */
export const timeMethods: ReadonlySet<string> = new Set(
  words(
    "toISO toISODate toISOString toMillis toSeconds getTime toFormat format plus minus startOf endOf diffTo extract toDateTime " +
      "getFullYear getMonth getDate getDay getHours getMinutes getSeconds getMilliseconds",
  ),
);

/** Methods whose code is loaded in the same way. */
export const extraMethods: ReadonlySet<string> = new Set([
  ...words("test exec match matchAll search"),
  ...timeMethods,
  ...words(
    "isEmpty isNotEmpty toJsonString parseJson toInt toNumber toFloat toBoolean toTitleCase toSentenceCase urlEncode urlDecode " +
      "base64Encode base64Decode hash removeTags " +
      "first last unique removeDuplicates sum average min max pluck chunk compact randomItem " +
      "round floor ceil abs isEven isOdd keys values hasField hasOwnProperty",
  ),
]);

let loaded: ExtraFunctions | null = null;
/** True once an expression has been compiled that names an extra function or holds a regular expression. */
let isRequired = false;

/** True if a compiled expression needs an extra function, and the code of these functions is not loaded yet. */
export function mustLoadExtraFunctions(): boolean {
  return isRequired && loaded === null;
}

/** Sets the code of the extra functions. */
export function provideExtraFunctions(functions: ExtraFunctions): void {
  loaded = functions;
}

/** Notes that an expression needs extra functions. */
export function requireExtraFunctions(): void {
  isRequired = true;
}

/** Returns the extra function of a name. Its code is looked up when the function is called, because it may be loaded later. */
export function extraFunction(name: string): ListedFunction {
  return (frame, site, self, args) => {
    const listed = loaded?.get(name);
    if (listed === undefined)
      failEvaluation(frame, site.position, `${site.name} is not loaded: await loadFunctions() of stepfold/expressions first`);
    return listed(frame, site, self, args);
  };
}
