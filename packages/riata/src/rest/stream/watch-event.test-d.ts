import { expectTypeOf, test } from 'vitest';
import type { KubeObject, Status } from '../../object/meta.js';
import type { ApiError } from '../errors/api-error.js';
import type { Bookmark, WatchEvent } from './watch-event.js';
import type { WatchStream } from './watch-stream.js';

interface Pod extends KubeObject {
  readonly spec: { readonly nodeName: string };
}

test('the type of an event determines the type of its object', () => {
  const look = (event: WatchEvent<Pod>) => {
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        expectTypeOf(event.object).toEqualTypeOf<Pod>();
        break;
      case 'BOOKMARK':
        expectTypeOf(event.object).toEqualTypeOf<Bookmark>();
        break;
      case 'ERROR':
        expectTypeOf(event.error).toEqualTypeOf<ApiError>();
        expectTypeOf(event.object).toEqualTypeOf<Status>();
        break;
      default:
        expectTypeOf(event).toBeNever();
    }
  };
  expectTypeOf(look).parameter(0).toEqualTypeOf<WatchEvent<Pod>>();
  expectTypeOf<WatchStream<Pod>>().toExtend<AsyncIterable<WatchEvent<Pod>>>();
});
