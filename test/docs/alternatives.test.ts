import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** A paragraph of a decision: its heading, and what it gives as the reason. */
const PARAGRAPHS = [
  [
    'docs/contributing/decisions/set-aside-room.md',
    /^\*\*Alternative not taken: the kubelet waits \(S3-35\)\.\*\* (?<reasons>.+)$/m,
    ['a bound pod cannot move', "The kubelet's admission has no queue", 'A nomination keeps the room without that'],
  ],
] as const;

test.each(PARAGRAPHS)(
  '%s describes the waiting kubelet as an alternative that was not taken, and why (S3-35)',
  (file, heading, reasons) => {
    const paragraph = heading.exec(readFileSync(file, 'utf8'))?.groups?.['reasons'] ?? '';
    for (const reason of reasons) expect(paragraph).toContain(reason);
  },
);
