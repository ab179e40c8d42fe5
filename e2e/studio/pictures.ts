// Makes the pictures of Studio in docs/pictures/studio: `npm run build && node e2e/studio/pictures.ts`. Clock, ids and browser are given, so that
// the pictures change only if Studio does.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { type Look, launchBrowser } from "./launch-browser.ts";
import type { Site } from "./serve-site.ts";
import { serveShop, shopNow } from "./shop/shop-site.ts";

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly look: Look;
  /** Resolves when everything of the page is there. */
  ready(page: Page): Promise<void>;
}

const phone: Look = { width: 390, height: 844 };
const dark: Look = { theme: "dark" };

/** Waits until a page shows all of this. */
async function shows(page: Page, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) await page.getByText(text).filter({ visible: true }).first().waitFor();
  await page.locator("main [aria-busy=true]").first().waitFor({ state: "detached" });
}

const listed = (page: Page): Promise<void> => shows(page, "order-1001", "held by worker-2");
/** The graph is opened once more when all events are there: it then stands where it stands for a reader who comes back. */
const opened = async (page: Page, ...texts: readonly string[]): Promise<void> => {
  await shows(page, ...texts);
  await page.getByRole("tab", { name: "JSON" }).click();
  await shows(page, "everything that the execution knows");
  await page.getByRole("tab", { name: "Graph" }).click();
  await shows(page, ...texts);
};
const asked = (page: Page): Promise<void> => shows(page, "Answer as ada", "paused");
const waits = (page: Page): Promise<void> => opened(page, "Answer as ada", "worker-2", "14 waiting", "attempt 3 of 5");
const failed = (page: Page): Promise<void> => opened(page, "FatalError", "undone", "5 attempts, ");

const pictures: readonly Picture[] = [
  { name: "executions-light", path: "/executions", look: {}, ready: listed },
  { name: "executions-dark", path: "/executions", look: dark, ready: listed },
  { name: "executions-390", path: "/executions", look: phone, ready: listed },
  { name: "execution-light", path: "/executions/order-1001", look: {}, ready: waits },
  { name: "execution-dark", path: "/executions/order-1001", look: dark, ready: waits },
  { name: "execution-390", path: "/executions/order-1001", look: phone, ready: asked },
  { name: "execution-failed-light", path: "/executions/order-0990", look: {}, ready: failed },
];

const folder = fileURLToPath(new URL("../../docs/pictures/studio/", import.meta.url));
const data = mkdtempSync(join(tmpdir(), "stepfold-pictures-"));
const site = await serveShop({ folder: data });
try {
  mkdirSync(folder, { recursive: true });
  for (const picture of pictures) await take(site, picture);
} finally {
  await site.close();
  rmSync(data, { recursive: true, force: true, maxRetries: 5 });
}

async function take({ link }: Site, { name, path, look, ready }: Picture): Promise<void> {
  const { context, close } = await launchBrowser({ ...look, isExact: true });
  try {
    const page = await context.newPage();
    await page.clock.setFixedTime(shopNow);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.goto(link(path));
    await ready(page);
    await page.evaluate("document.fonts.ready");
    await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled", caret: "hide" });
    console.log(`${name}.png`);
  } finally {
    await close();
  }
}
