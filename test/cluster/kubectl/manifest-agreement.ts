import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseManifests } from '#cli/manifests/parse-manifests.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { manifestTexts } from './yaml-arbitraries.ts';

const TOGETHER = 4;

type Reading = { readonly objects: readonly unknown[] } | { readonly problem: string };

/** As kubectl reads it, without an API server. */
async function theirReading(text: string): Promise<Reading> {
  const command = 'patch --local --type=merge -p {} -o json -f -';
  const { status, stdout, stderr } = await kubectl('/dev/null', command.split(' '), text);
  if (stderr.includes('no objects passed')) return { objects: [] };
  return status === 0 ? { objects: printedObjects(stdout) } : { problem: stderr };
}

function printedObjects(stdout: string): readonly unknown[] {
  return stdout
    .split(/(?<=^\}\n)/m)
    .filter((each) => each !== '')
    .map((each) => JSON.parse(each) as unknown);
}

function ourReading(text: string): Reading {
  try {
    return { objects: parseManifests({ name: 'text', text }).map(({ raw }) => raw) };
  } catch (error) {
    return { problem: errorText(error) };
  }
}

function isSame(ours: Reading, theirs: Reading): boolean {
  if ('problem' in ours || 'problem' in theirs) return 'problem' in ours && 'problem' in theirs;
  return sorted(ours) === sorted(theirs);
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/** Registers the comparison: kubectl is the judge. */
export function manifestAgreement(count: number, seed: number): void {
  describe.runIf(hasCluster())('manifests are read as kubectl reads them', () => {
    test(
      `${count} texts (seed ${seed})`,
      async () => {
        const texts = fc.sample(manifestTexts, { numRuns: count, seed });
        for (let at = 0; at < texts.length; at += TOGETHER) {
          await Promise.all(
            texts.slice(at, at + TOGETHER).map(async (text) => {
              const [ours, theirs] = [ourReading(text), await theirReading(text)];
              expect(isSame(ours, theirs), JSON.stringify({ text, ours, theirs }, null, 2)).toBe(true);
            }),
          );
        }
      },
      count * 1_000 + 10_000,
    );
  });
}
