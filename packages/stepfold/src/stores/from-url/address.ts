import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { publicUrl } from "./public-url.ts";

/** A URL without the parameters that are ours, and these. */
export interface Address<Name extends string> {
  /** For the driver: all else as it was written. */
  readonly url: string;
  readonly taken: Readonly<Record<Name, string>>;
}

/** Takes parameters out of a URL that are ours and not the driver's. By its text: some drivers take URLs that no parser does. */
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

/** @throws StepfoldError `OPTION_INVALID` with what is wrong, but without the password */
export function parsedUrl(text: string): URL {
  try {
    const url = new URL(text);
    decodeURIComponent(url.password + url.username);
    if (/^[^:]*:\/\//.test(text)) return url;
  } catch {
    // told below
  }
  throw invalidUrl(
    `is a URL that cannot be read: ${publicUrl(text)}. A password is written with %40 for @, %2F for /, %3A for :, %25 for %`,
  );
}

/** @throws StepfoldError `OPTION_INVALID` unless it is the text of a number that a pool can have */
export function poolSize(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw invalidUrl(`has a parameter "pool" that is no whole number from 1 to 9999: "${text}"`);
}

/** What is wrong with the URL of a store. */
export function invalidUrl(reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option: "store", reason });
}
