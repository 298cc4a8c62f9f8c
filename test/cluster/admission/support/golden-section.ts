import { readFileSync } from 'node:fs';
import { takesQosClass } from '#test/cluster/support/control-plane/binaries.ts';

/** Cases of golden files that cannot be printed on the version under test. */
const NOT_PRINTED: readonly string[] = takesQosClass(process.env) ? [] : ['a forged QoS class'];

/** The text of a case in a golden file, if it cannot be printed here; a section begins with `# CASE`. */
export function goldenSection(file: URL, name: string): string | undefined {
  if (!NOT_PRINTED.includes(name)) return undefined;
  const [, section] = readFileSync(file, 'utf8').split(`# ${name}\n`);
  return section?.split(/^# /m)[0]?.replace(/\n$/, '');
}
