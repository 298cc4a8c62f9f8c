import { beforeAll, describe, expect, test } from 'vitest';
import { onlyIn } from '#test/cluster/admission/support/cluster-objects.ts';
import { at, uniqueName } from '#test/contract/harness.ts';
import { expectWebhookUnharmed } from './expect-unharmed.ts';
import { ATTACKER, forbiddenPod, permittedPod, type Stage } from './stage.ts';
import { eventually } from '#test/build/waiting.ts';

/** Where the raw text is put once the object around it is JSON. */
const HERE = '"HERE"';

function nested(depth: number, open: string, close: string): string {
  return `${open.repeat(depth)}1${close.repeat(depth)}`;
}

/** What a client may write below managedFields, as bytes: the API server keeps it and sends it on. */
const FIELDS: readonly (readonly [string, string])[] = [
  ['objects 80 deep', nested(80, '{"f:a":', '}')],
  ['a hundred thousand arrays', `[${'[],'.repeat(100_000)}[]]`],
  ['thirty thousand keys', `{${Array.from({ length: 30_000 }, (_, index) => `"f:${index}":{}`).join(',')}}`],
];
/** The sandbox takes neither: it refuses what is nested deeper than 100 and what is no UTF-8. */
const FIELDS_ON_REAL: readonly (readonly [string, string])[] = [
  ...[199, 2_000, 9_980].flatMap((depth): (readonly [string, string])[] => [
    [`objects ${depth} deep`, nested(depth, '{"f:a":', '}')],
    [`arrays ${depth} deep`, nested(depth, '[', ']')],
  ]),
  ['a key that is no UTF-8', '{"f:a\u00ff\u00fe":{}}'],
];

function managed(): object {
  return {
    managedFields: [{ manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: 'HERE' }],
  };
}

/** The tenant writes arbitrary JSON below managedFields of a pod or template, so that a review cannot be read. */
export function managedFields(stage: Stage): void {
  describe('a tenant that writes anything below managedFields', () => {
    const dryRun = '?dryRun=All';
    const deployments = () => `/apis/apps/v1/namespaces/${stage.tenant.namespace}/deployments${dryRun}`;

    beforeAll(async () => {
      const subjects = [{ kind: 'User', name: ATTACKER }];
      await stage.objects.policy('person', {
        namespaceSelector: onlyIn(stage.tenant),
        subjects,
        allowedPriorityClassNames: [stage.classes.permitted],
      });
      await eventually(async () => expect((await writeTemplate(forbiddenPod(stage), '{}')).status).toBe(403));
    });

    function send(path: string, object: object, fields: string) {
      const bytes = Buffer.from(JSON.stringify(object).replaceAll(HERE, fields), 'latin1');
      return stage.attacker()('POST', path, bytes);
    }

    function writeTemplate(pod: object, fields: string) {
      const labels = { app: 'x' };
      const template = { metadata: { ...managed(), labels }, spec: (pod as { spec: object }).spec };
      const spec = { replicas: 0, selector: { matchLabels: labels }, template };
      const metadata = { ...managed(), name: uniqueName('deployment') };
      return send(deployments(), { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec }, fields);
    }

    function cases(): readonly (readonly [string, string])[] {
      return stage.target().kind === 'real' ? [...FIELDS, ...FIELDS_ON_REAL] : FIELDS;
    }

    test('gets no forbidden class that way, in a pod', async () => {
      for (const [what, fields] of cases()) {
        const refused = await send(stage.tenant.core(`pods${dryRun}`), forbiddenPod(stage, {}, managed()), fields);
        expect([what, refused.status, at(refused.body, 'reason')]).toEqual([what, 403, 'Forbidden']);
        const made = await send(stage.tenant.core(`pods${dryRun}`), permittedPod(stage, {}, managed()), fields);
        expect([what, made.status]).toEqual([what, 201]);
      }
      expectWebhookUnharmed(stage);
    });

    test('gets none in a template either', async () => {
      for (const [what, fields] of cases()) {
        const refused = await writeTemplate(forbiddenPod(stage), fields);
        expect([what, refused.status, at(refused.body, 'reason')]).toEqual([what, 403, 'Forbidden']);
        const made = await writeTemplate(permittedPod(stage), fields);
        expect([what, made.status]).toEqual([what, 201]);
      }
      expectWebhookUnharmed(stage);
    });
  });
}
