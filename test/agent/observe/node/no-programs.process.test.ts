import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';

const LIBRARIES = import.meta.resolve('#agent/observe/node/second-opinions.ts');

/** Page faults of children that have ended: one at least as soon as a program was started. */
const FAULTS = `
  const { readFileSync } = await import('node:fs');
  const faults = () => { const stat = readFileSync('/proc/self/stat', 'utf8'); return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[8]; };`;

function faultsAfter(script: string): string {
  const source = `${FAULTS} ${script}; console.log(faults());`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' });
  return stdout === '' ? stderr : stdout;
}

describe('reads in the loop', () => {
  test.each([
    ['the opinion of systeminformation', `await (await import('${LIBRARIES}')).askSysteminformation()`],
    ['the opinion of node-os-utils', `await (await import('${LIBRARIES}')).askNodeOsUtils()`],
    ['the inventory', `await (await import('${LIBRARIES}')).askInventory()`],
  ])('%s starts no program', (_name, script) => {
    expect(faultsAfter(script)).toBe('0\n');
  });

  test('the check would notice a program', () => {
    expect(faultsAfter(`(await import('node:child_process')).execSync('true')`)).toMatch(/^[1-9]\d*\n$/);
  });
});
