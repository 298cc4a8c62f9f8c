import { expect, test } from 'vitest';
import * as catalogue from '#shared/domain/gang/messages.ts';

const FIELD = 'plimsoll.dev/gang-size';
const GANG = { gang: 'shop/train' };
const GROUP = { ...GANG, api: 'scheduling.k8s.io' };

type Examples = { readonly [Name in keyof typeof catalogue]: Parameters<(typeof catalogue)[Name]>[0] };

const EXAMPLES: Examples = {
  BAD_NAME: { field: 'plimsoll.dev/gang' },
  BAD_NUMBER: { field: FIELD, value: 'many', max: 1_000 },
  NO_SIZE: { fields: `${FIELD} or plimsoll.dev/gang-min` },
  MIN_ABOVE_SIZE: { min: 9, size: 8, fields: ['plimsoll.dev/gang-min', FIELD] },
  NOT_OF_A_JOB: { field: 'plimsoll.dev/gang' },
  SEVERAL_SIZES: { ...GANG, counted: '8 (7 of its pods), 9 (1 of its pods)' },
  OTHER_SIZE: { ...GANG, own: '9', others: '8' },
  SEVERAL_QUEUES: { ...GANG, counted: 'batch (7 of its pods), web (1 of its pods)' },
  OTHER_QUEUE: { ...GANG, own: 'web', others: 'batch' },
  GANG_FULL: { ...GANG, size: 8 },
  GROUP_NOT_FOUND: GROUP,
  GROUP_NOT_READ: GROUP,
  TOO_LARGE: { ...GANG, type: 'cpu', needed: '16', limit: '12', queue: 'batch', pods: 8 },
  INCOMPLETE: { ...GANG, present: 6, min: 8 },
  GATED: { ...GANG, gates: 'example.com/license' },
  NOT_SEEN: { pod: 'shop/train-7', what: 'inter-pod affinity' },
  NO_PLAN: { placed: 7, pods: 8, needed: '4 cpu', hole: '2 cpu' },
  NOT_YET: {},
  TAKEN: {},
  UNWRITTEN: { message: 'the API server does not answer' },
  HALF: { ...GANG, running: 7, min: 8, seconds: 60, others: '' },
  KEPT: { ...GANG, keeper: 'pod train-1 has a system priority' },
};

test('the sentences about gangs are those of messages.golden, each with its code', async () => {
  const lines = Object.entries(EXAMPLES).map(([name, values]) => {
    const say = catalogue[name as keyof typeof catalogue] as (values: object) => { code: string; text: string };
    const { code, text } = say(values);
    return `${code}: ${text}`;
  });
  await expect(`# Gangs: code, text\n\n${lines.join('\n')}\n`).toMatchFileSnapshot('messages.golden');
});
