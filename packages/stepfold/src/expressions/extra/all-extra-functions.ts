import type { ExtraFunctions } from "../functions/extra-functions.ts";
import { base64Functions } from "./bytes.ts";
import { hashFunctions } from "./hash-functions.ts";
import { patternFunctions } from "./pattern-functions.ts";
import { seededFunctions } from "./seeded-functions.ts";
import { timeFunctions } from "./time-functions.ts";
import { valueFunctions } from "./value-functions.ts";

/**
 * All functions that `extraNamespaces`, `extraAlone` and `extraMethods`
 * list, and the forms of `replace` and `split` for regular expressions.
 */
export const allExtraFunctions: ExtraFunctions = new Map([
  ...base64Functions,
  ...hashFunctions,
  ...patternFunctions,
  ...seededFunctions,
  ...timeFunctions,
  ...valueFunctions,
]);
