import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium } from "playwright-core";
import { findChromium } from "../../scripts/servers/chromium.ts";

/** How a page is looked at. */
export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "light" | "dark";
  /** True, for pictures: the same page gives the same pixels every time. */
  readonly isExact?: boolean;
}

/** A browser with nothing from before, and how it is ended. */
export interface LaunchedBrowser {
  readonly context: BrowserContext;
  close(): Promise<void>;
}

const flags = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
];

/** One thread draws whole tiles, so that the edges of shapes do not depend on how the work was shared. */
const exact = ["--num-raster-threads=1", "--disable-partial-raster", "--force-color-profile=srgb"];

/** Starts a browser. It must be there: see `findChromium`. */
export async function launchBrowser(look: Look = {}): Promise<LaunchedBrowser> {
  const { width = 1440, height = 900, theme = "light", isExact = false } = look;
  const folder = mkdtempSync(join(tmpdir(), "stepfold-browser-"));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: findChromium()!,
    ...{ headless: true, args: isExact ? [...flags, ...exact] : flags, viewport: { width, height }, colorScheme: theme },
    ...{ timezoneId: "Europe/Vienna", locale: "en-GB" },
  });
  return {
    context,
    async close() {
      await context.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
