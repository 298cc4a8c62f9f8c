/** How honest users fare on a real API server while a tenant attacks the webhook: the suite of test/webhook/adversary. JSON on stdout. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { shippedMemoryMiB } from '#test/webhook/support/shipped-webhook.ts';

const SUITE = [
  'run',
  '--config',
  'test/cluster/vitest.config.ts',
  'test/cluster/admission/availability/adversary.test.ts',
];
const VITEST = 'node_modules/vitest/vitest.mjs';
const TARGETS = { createdShare: 0.95, p99Ms: 500, peakMiB: shippedMemoryMiB() * 0.9 };

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'));
const file = join(folder, 'figures.ndjson');
const loadBefore = loadavg();
const env = { ...process.env, CI: 'true', PLIMSOLL_ADVERSARY_FIGURES: file };
const { status } = spawnSync(process.execPath, [VITEST, ...SUITE], { env, stdio: ['ignore', 2, 2] });
const lines = readFileSync(file, 'utf8').trim().split('\n');
const attacks = lines.map((line) => JSON.parse(line) as object);
console.log(JSON.stringify({ attacks, targets: TARGETS, loadBefore, loadAfter: loadavg() }, undefined, 2));
rmSync(folder, { recursive: true });
process.exitCode = status ?? 1;
