import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { publicUrl } from "./public-url.ts";

/** A URL for a driver, and the parameters that were taken out of it. */
export interface Address<Name extends string> {
  /** The URL without these parameters. The rest is as it was written, but without a "?" or "&" that has nothing behind it. */
  readonly url: string;
  /** The decoded values of the parameters; the fallback of a missing one, and the first value of a repeated one. */
  readonly taken: Readonly<Record<Name, string>>;
}

/** Takes our own parameters out of a URL. The function works on the text, because some drivers accept URLs that `URL` cannot parse. */
export function takeParameters<Name extends string>(text: string, fallbacks: Readonly<Record<Name, string>>): Address<Name> {
  const start = text.indexOf("?");
  if (start === -1) return { url: text, taken: fallbacks };
  const taken: Record<string, string> = { ...fallbacks };
  const seen = new Set<string>();
  const others = text
    .slice(start + 1)
    .split("&")
    .filter((pair) => {
      const [[name, value] = ["", ""]] = new URLSearchParams(pair);
      if (!Object.hasOwn(fallbacks, name)) return pair !== "";
      if (!seen.has(name)) taken[name] = value;
      seen.add(name);
      return false;
    });
  return { url: text.slice(0, start) + (others.length > 0 ? `?${others.join("&")}` : ""), taken: taken as Record<Name, string> };
}

/**
 * Parses a URL.
 *
 * @throws StepfoldError `OPTION_INVALID` that quotes the URL without its password
 */
export function parsedUrl(text: string, option: UrlOption = "store"): URL {
  try {
    const url = new URL(text);
    decodeURIComponent(url.password + url.username);
    if (/^[^:]*:\/\//.test(text)) return url;
  } catch {
    // the error below says what is wrong
  }
  throw invalidUrl(`is not a valid URL: ${publicUrl(text)}. In a password, write %40 for @, %2F for /, %3A for :, %25 for %`, option);
}

/**
 * Parses the size of a connection pool.
 *
 * @throws StepfoldError `OPTION_INVALID`
 */
export function poolSize(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw invalidUrl(`has a parameter "pool" that is not a whole number from 1 to 9999: "${text}"`);
}

/** What a URL names. */
export type UrlOption = "store" | "queue";

/** Makes the error for a URL of a store or a queue. */
export function invalidUrl(reason: string, option: UrlOption = "store"): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
