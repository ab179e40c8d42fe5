import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { maxMs } from "./browser.ts";

/** The part of a browser's globals that is looked at: the tests are compiled without the types of pages. */
interface InPage {
  readonly document: {
    readonly body: PageElement;
    querySelectorAll(selector: string): Iterable<PageElement>;
  };
  readonly location: { readonly href: string; readonly origin: string };
  getComputedStyle(element: PageElement): { readonly display: string; readonly unicodeBidi: string };
}

interface PageElement {
  readonly localName: string;
  readonly attributes: Iterable<{ readonly name: string; readonly value: string }>;
  readonly className: string;
  readonly parentElement: PageElement | null;
  readonly childNodes: Iterable<{
    readonly nodeType: number;
    readonly data: string;
    readonly nextSibling: { readonly nodeName: string } | null;
  }>;
  readonly textContent: string;
  readonly value?: string;
}

/**
 * Returns everything on a page that texts could have become: elements that Studio has none of, handlers, addresses that lead elsewhere, styles
 * that load something, members of every object.
 */
export function foreignMarkup(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { document, location } = globalThis as unknown as InPage;
    const foreign = [
      "animate",
      "audio",
      "base",
      "embed",
      "frame",
      "iframe",
      "image",
      "img",
      "marquee",
      "object",
      "style",
      "video",
      "x-hostile",
    ];
    const addresses = ["action", "background", "cite", "data", "formaction", "href", "poster", "src", "srcset", "xlink:href"];
    const isElsewhere = (address: string): boolean => URL.parse(address, location.href)?.origin !== location.origin;
    const found: string[] = [];
    for (const { localName, attributes } of document.querySelectorAll("*")) {
      if (foreign.includes(localName)) found.push(`<${localName}>`);
      for (const { name, value } of attributes) {
        const isBad =
          /^on|^data-hostile$|^srcdoc$|^autofocus$/.test(name) ||
          (addresses.includes(name) && isElsewhere(value)) ||
          (name === "style" && /url\(|hostile/.test(value));
        if (isBad) found.push(`<${localName} ${name}="${value}">`);
      }
    }
    for (const key in {}) found.push(`Object.prototype.${key}`);
    return found;
  });
}

/** Returns all texts of a page: those between its tags, and those in its fields. */
export function textOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { document } = globalThis as unknown as InPage;
    const fields = [...document.querySelectorAll("input, textarea")].map(({ value }) => value);
    return [document.body.textContent, ...fields].join("\n");
  });
}

/**
 * Returns texts that may turn around the words after them: they hold signs that change the direction of writing, and nothing isolates them from
 * the rest of the line.
 */
export function turningTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { document, getComputedStyle } = globalThis as unknown as InPage;
    const turns = /[\u202a-\u202e\u2066-\u2069]/;
    const found: string[] = [];
    for (const element of document.querySelectorAll("body *")) {
      for (const { nodeType, data, nextSibling } of element.childNodes) {
        if (nodeType !== 3 || !turns.test(data)) continue;
        // what stands directly in a flexible box, or before the end of a line, turns nothing else
        if (getComputedStyle(element).display.includes("flex") || nextSibling?.nodeName === "BR") continue;
        let around = element;
        for (;;) {
          const { display, unicodeBidi } = getComputedStyle(around);
          if (display !== "inline" || unicodeBidi !== "normal" || !around.parentElement) break;
          around = around.parentElement;
        }
        if (!around.textContent.endsWith(data)) found.push(`${around.localName}.${around.className}: ${around.textContent.slice(0, 120)}`);
      }
    }
    return found;
  });
}

/** Waits until the page has loaded what it shows; then nothing of it may be more than text. */
export async function expectOnlyText(page: Page): Promise<void> {
  await expect.poll(() => page.locator("main [aria-busy=true]").count(), { timeout: maxMs, interval: 15 }).toBe(0);
  expect(await foreignMarkup(page)).toEqual([]);
  expect(await turningTexts(page)).toEqual([]);
}

/** Waits until something is seen. It looks more often than Playwright does by itself, for tests that wait very often. */
export async function expectSeen(locator: Locator): Promise<void> {
  await expect.poll(() => locator.isVisible(), { timeout: maxMs, interval: 15, message: String(locator) }).toBe(true);
}
