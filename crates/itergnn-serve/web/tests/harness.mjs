// Starts the real server and a real browser, and fails on anything a user would call broken.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, "..", "..", "..", "..");

/** The browser of the system; nothing is downloaded. */
const BROWSERS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The program, as the tests built it. */
export const binary = process.env.ITERGNN ?? join(root, "target", "debug", "itergnn");

/** Starts `itergnn serve` with these arguments on a free port; gives its address and a way to stop it. */
export async function startServer(args) {
  const child = spawn(binary, ["serve", "--port", "0", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  process.on("exit", () => child.kill());
  let said = "";
  const url = await new Promise((resolve, reject) => {
    const hear = (chunk) => {
      said += chunk;
      const found = said.match(/http:\S+/);
      if (found) resolve(found[0]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    child.on("error", reject);
  });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  return {
    url,
    said: () => said,
    async stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

/** A folder that is gone afterwards. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), "itergnn-page-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }) };
}

export class Browser {
  constructor(context, profile) {
    this.context = context;
    this.profile = profile;
    this.complaints = [];
  }

  static async start() {
    const executablePath = BROWSERS.find((path) => path && existsSync(path));
    if (!executablePath) throw new Error("there is no Chromium; install the package chromium or set CHROMIUM");
    const profile = folder();
    const context = await chromium.launchPersistentContext(profile.path, {
      executablePath,
      headless: true,
      args: FLAGS,
      viewport: { width: 1440, height: 1000 },
      colorScheme: "light",
    });
    // Long enough for a machine that has other things to do.
    context.setDefaultTimeout(120_000);
    return new Browser(context, profile);
  }

  /** A page that remembers every error, and every request that goes anywhere but to `origin`. */
  async open(url, options = {}) {
    const page = await this.context.newPage();
    const origin = new URL(url).origin;
    if (options.colorScheme || options.reducedMotion) await page.emulateMedia(options);
    page.on("console", (message) => {
      const text = message.text();
      const expected = options.expect?.some((pattern) => pattern.test(text));
      if (["error", "warning"].includes(message.type()) && !expected) this.complaints.push(`console: ${text}`);
    });
    page.on("pageerror", (error) => this.complaints.push(`script: ${error.message}`));
    page.on("request", (request) => {
      const to = request.url();
      if (!to.startsWith(`${origin}/`) && !to.startsWith("data:") && !to.startsWith("blob:")) {
        this.complaints.push(`request to ${to}`);
      }
    });
    page.on("response", async (response) => {
      const expected = options.expect?.some((pattern) => pattern.test(`status of ${response.status()}`));
      if (response.status() >= 400 && !expected) {
        const line = await response.text().catch(() => "");
        this.complaints.push(`${response.status()} ${response.url()} ${line} for ${response.request().postData()?.slice(0, 300)}`);
      }
    });
    page.on("requestfailed", (request) => {
      const why = request.failure()?.errorText;
      // What the page itself gave up, such as a question that another one replaced.
      if (why !== "net::ERR_ABORTED") this.complaints.push(`failed: ${request.url()} ${why}`);
    });
    await page.goto(url);
    return page;
  }

  async stop() {
    await this.context.close();
    this.profile.remove();
  }
}

/** Where pictures go: into the documentation when asked, else nowhere that stays. */
export function shooter() {
  const target = process.env.ITERGNN_SHOTS ? join(root, "docs", "page") : null;
  if (target) mkdirSync(target, { recursive: true });
  return async (page, name) => {
    if (target) await page.screenshot({ path: join(target, `${name}.png`) });
  };
}

export function check(condition, message) {
  if (!condition) throw new Error(message);
}

/** Waits until `read` gives something that `good` accepts. */
export async function until(read, good, what, seconds = 60) {
  const end = Date.now() + 1000 * seconds;
  let last;
  while (Date.now() < end) {
    last = await read();
    if (good(last)) return last;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`waited ${seconds} s for ${what}; the last was ${JSON.stringify(last)}`);
}
