import { describe, expect, test } from 'vitest';
import { planContainer, findDemoImage } from '#sandbox/node/containers/container-plan.ts';

const MEBIBYTE = 1024 * 1024;

function plan(image: string, ...args: readonly string[]) {
  return planContainer({ name: 'main', image, args });
}

describe('planContainer', () => {
  test('gives every parameter of an image its default', () => {
    expect(plan('demo/hog:1')).toEqual({
      kind: 'run',
      parameters: {
        image: 'demo/hog',
        memoryBytes: 0,
        growBytesPerSecond: 40 * MEBIBYTE,
        mostBytes: 1024 * MEBIBYTE,
        milliCpu: 0,
        exitCode: 0,
        ignoresTerm: false,
      },
    });
  });

  test('reads arguments as quantities', () => {
    expect(plan('demo/batch', '--seconds=1500m', '--exit-code=3', '--memory=8Mi', '--cpu=1')).toEqual({
      kind: 'run',
      parameters: {
        image: 'demo/batch',
        memoryBytes: 8 * MEBIBYTE,
        growBytesPerSecond: 0,
        mostBytes: 8 * MEBIBYTE,
        milliCpu: 1000,
        seconds: 1.5,
        exitCode: 3,
        ignoresTerm: false,
      },
    });
  });

  test.each([
    ['an image that it does not have', 'nginx:1.27', [], 'ImagePullBackOff'],
    ['a name that every object has', 'constructor', [], 'ImagePullBackOff'],
    ['an argument that the image does not know', 'demo/service', ['--grow=1Mi'], 'CreateContainerConfigError'],
    ['an argument that is no flag', 'demo/service', ['sleep'], 'CreateContainerConfigError'],
    ['a value that is no quantity', 'demo/hog', ['--grow=fast'], 'CreateContainerConfigError'],
    ['a negative value', 'demo/service', ['--memory=-1Mi'], 'CreateContainerConfigError'],
    ['more memory than is good for the machine', 'demo/hog', ['--most=100Gi'], 'CreateContainerConfigError'],
    ['more seconds than a timer takes', 'demo/batch', ['--seconds=10M'], 'CreateContainerConfigError'],
  ])('refuses %s', (_what, image, args, reason) => {
    expect(plan(image, ...args)).toMatchObject({ kind: 'refuse', reason });
  });

  test('never runs a command', () => {
    const planned = planContainer({ name: 'main', image: 'demo/service', command: ['sh', '-c', 'true'] });
    expect(planned).toMatchObject({ kind: 'refuse', reason: 'CreateContainerConfigError' });
  });

  test('says which argument is wrong and what was expected', () => {
    expect(plan('demo/burner', '--cpus=2')).toMatchObject({
      message: 'Unknown argument "--cpus=2": expected --memory=…, --cpu=…',
    });
    expect(plan('demo/hog', '--most=lots')).toMatchObject({
      message: 'Bad value "lots" of --most: expected a quantity from 0 to 2Gi, such as 40Mi',
    });
  });
});

test('findDemoImage reads past registry and tag', () => {
  expect(findDemoImage('docker.io/demo/service:v2')?.name).toBe('demo/service');
  expect(findDemoImage('demo/service:v2/x')).toBeUndefined();
});
