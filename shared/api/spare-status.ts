import { z } from 'zod';
import { described } from './schema/crd-words.ts';
import { because, clipped, IN_DEFINITION, INSTANT, INT64, oneOf } from './schema/report-fields.ts';

const AMOUNT = INT64.or(0, undefined, IN_DEFINITION);
const SPARE_ENTRY = z.object({
  requested: INT64.or(0, 'Requested by all other pods.', IN_DEFINITION),
  used: INT64.or(0, 'Used now by everything but spare pods.', IN_DEFINITION),
  median: AMOUNT,
  p99: AMOUNT,
  highest: AMOUNT,
  taken: INT64.or(0, 'Requested by spare pods of this node.', IN_DEFINITION),
  lendable: INT64.or(0, 'What spare pods may request in all.', IN_DEFINITION),
  lent: INT64.or(
    0,
    'What the node is to offer to spare pods, in steps and never less than taken. A dry run offers nothing.',
    IN_DEFINITION,
  ),
  because: because('decision', 128, 'Why so much can be lent.'),
});

/** What could be lent to spare pods, and is. */
export const SPARE_STATUS = described(
  z.object({
    mode: oneOf(['DryRun', 'Enforce']).or(
      'DryRun',
      'Whether the node is to offer the room (Enforce) or only reports it (DryRun).',
    ),
    since: INSTANT.optional('Start of the history. Less than an hour lends nothing.'),
    memory: SPARE_ENTRY,
    cpu: SPARE_ENTRY,
    digest: clipped(2_048).or('', 'The history, for an agent that starts.'),
  }),
  'Room on the node that was requested and is not used. Memory in bytes, CPU in millicores; median, p99 and highest are what everything but spare pods used.',
);

export type SpareStatus = Readonly<z.output<typeof SPARE_STATUS>>;
export type SpareEntry = Readonly<z.output<typeof SPARE_ENTRY>>;
