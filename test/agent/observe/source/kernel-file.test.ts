import { rmSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { ABSENT, FAILED, KernelFile, scratch } from '#agent/observe/source/kernel-file.ts';
import { type TemporaryTree, temporaryTree } from '#test/agent/observe/temporary-tree.ts';

let tree: TemporaryTree;
afterEach(() => tree.remove());

function textOf(length: number): string {
  return new TextDecoder().decode(scratch.subarray(0, length));
}

describe('KernelFile', () => {
  test('reads again from the start through one descriptor', () => {
    tree = temporaryTree({ usage: '1\n' });
    const file = new KernelFile(tree.root, 'usage');
    expect(textOf(file.read())).toBe('1\n');
    tree.write('usage', '23\n');
    expect(textOf(file.read())).toBe('23\n');
    file.close();
    expect(textOf(file.read())).toBe('23\n');
    file.close();
    file.close();
  });

  test('a file of /proc/sys costs about as much as any other', () => {
    const costOf = (directory: string, name: string): number => {
      const file = new KernelFile(directory, name);
      const before = process.cpuUsage();
      let bytes = 0;
      for (let count = 0; count < 5_000; count += 1) bytes += file.read();
      const { user, system } = process.cpuUsage(before);
      file.close();
      expect(bytes).toBeGreaterThan(5_000);
      return user + system;
    };
    tree = temporaryTree();
    costOf('/proc', 'loadavg');
    expect(costOf('/proc/sys/kernel', 'pid_max') / costOf('/proc', 'loadavg')).toBeLessThan(10);
  });

  test('a missing file is absent, and is found when it appears', () => {
    tree = temporaryTree();
    const file = new KernelFile(tree.root, 'usage');
    expect(file.read()).toBe(ABSENT);
    expect(file.because).toBe(`cannot read ${tree.root}/usage: ENOENT`);
    tree.write('usage', '5\n');
    expect(textOf(file.read())).toBe('5\n');
    file.close();
  });

  test('a directory in its place has failed', () => {
    tree = temporaryTree({ 'usage/inner': '' });
    const file = new KernelFile(tree.root, 'usage');
    expect(file.read()).toBe(FAILED);
    expect(file.because).toBe(`cannot read ${tree.root}/usage: EISDIR`);
  });

  test('more than a page is read whole', () => {
    const content = 'key 1\n'.repeat(3000);
    tree = temporaryTree({ stat: content });
    const file = new KernelFile(tree.root, 'stat');
    expect(textOf(file.read())).toBe(content);
    file.close();
  });

  test('a file longer than the buffer is cut, not an endless read', () => {
    tree = temporaryTree({ stat: 'x'.repeat(scratch.length + 5) });
    const file = new KernelFile(tree.root, 'stat');
    expect(file.read()).toBe(scratch.length);
    file.close();
  });

  test('a seq_file of several pages is read whole', () => {
    tree = temporaryTree();
    const file = new KernelFile('/proc', 'vmstat');
    expect(textOf(file.read())).toMatch(/^nr_free_pages \d+\n[^]*\n$/);
    file.close();
    rmSync(tree.root, { recursive: true });
  });
});
