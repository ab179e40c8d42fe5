import type { BrowserContext, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { type Look, launchBrowser } from "./launch-browser.ts";

/** The longest time that a page may take for anything; a quiet machine needs a tenth of it. */
export const maxMs = 20_000;

/** What has gone wrong in a browser, from whatever page. */
interface Complaints {
  /** Reports of the content security policy, errors that nobody caught, dialogs, requests to other origins. */
  readonly found: string[];
}

/** A browser of its own, with nothing from before. */
export interface TestBrowser {
  readonly context: BrowserContext;
  readonly complaints: Complaints;
  /** Opens a page in a tab of its own. */
  open(url: string): Promise<Page>;
}

/** Starts a browser until the end of the test. At its end nothing may have gone wrong in it. */
export async function startBrowser(look: Look = {}): Promise<TestBrowser> {
  const { context, close } = await launchBrowser(look);
  context.setDefaultTimeout(maxMs);
  const complaints: Complaints = { found: [] };
  const origins = new Set<string>();
  context.on("page", (page) => watchPage(page, complaints, origins));
  for (const page of context.pages()) watchPage(page, complaints, origins);
  onTestFinished(close);
  return {
    context,
    complaints,
    async open(url) {
      origins.add(new URL(url).origin);
      const page = await context.newPage();
      await page.goto(url);
      return page;
    },
  };
}

function watchPage(page: Page, { found }: Complaints, origins: ReadonlySet<string>): void {
  page.on("pageerror", (error) => found.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    found.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    const text = message.text();
    // answers that refuse something are also shown in the console; tests look at them where they belong
    if (message.type() === "error" && !/Failed to load resource|net::ERR_/.test(text)) found.push(`console: ${text}`);
    if (/Content Security Policy/.test(text)) found.push(`policy: ${text}`);
  });
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && origins.size > 0 && !origins.has(origin)) found.push(`request: ${request.url()}`);
  });
}

/** Nothing has gone wrong in the browser so far. */
export function expectNoComplaints({ complaints }: TestBrowser): void {
  expect(complaints.found).toEqual([]);
}

/** Waits until something is true of a page. */
export async function waitUntil(what: () => Promise<boolean> | boolean, of: string, atMostMs: number = maxMs): Promise<void> {
  await expect.poll(what, { timeout: atMostMs, interval: 50, message: of }).toBe(true);
}
