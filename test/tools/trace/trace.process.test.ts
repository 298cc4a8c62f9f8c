import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Tracer, traceProcess } from '#tools/trace/called-functions.ts';
import { type Scene, SCENES } from '#tools/trace/scenes.ts';

const DECISION = { file: 'shared/domain/admission/decide-mutation.ts', name: 'decideMutation' };

describe('a trace of a mutating review', () => {
  let scene: Scene | undefined;
  let tracer: Tracer | undefined;

  beforeAll(async () => {
    scene = await SCENES['mutate']?.();
    tracer = await traceProcess(scene?.pid ?? 0);
  });
  afterAll(async () => {
    tracer?.close();
    await scene?.stop();
  });

  test('names the decision each time that a review is answered, and only then', async () => {
    await tracer?.called();
    expect(await tracer?.called()).not.toContainEqual(DECISION);
    for (let time = 0; time < 2; time += 1) {
      await scene?.work();
      expect(await tracer?.called()).toContainEqual(DECISION);
    }
    expect(await tracer?.called()).not.toContainEqual(DECISION);
  });
});
