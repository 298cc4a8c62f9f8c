import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

/** Where Debian's packages put it; PLIMSOLL_CHROMIUM names another one. */
const PLACES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** Path of a Chromium, or why there is none. */
export function findChromium(): string | undefined {
  return [process.env['PLIMSOLL_CHROMIUM'], ...PLACES].find((path) => path !== undefined && existsSync(path));
}

/** Starts it; rejects with what to install. */
export function startBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined)
    throw new Error('cannot find Chromium: install the package chromium-headless-shell');
  // As root, in a container, there is no sandbox of its own; the pages are ours.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}
