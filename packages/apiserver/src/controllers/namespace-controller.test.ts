import { namespacePlay } from '../../behaviour/namespace-play.js';
import { embeddedServer } from './embedded-server.fixture.js';

namespacePlay(embeddedServer());
