package winops.peers.esper

import scala.beans.BeanProperty

/** An event, as Esper likes it best: a bean. */
final class Trade(
    @BeanProperty val key: Long,
    @BeanProperty val seq: Long,
    @BeanProperty val price: Double,
    @BeanProperty val qty: Long,
    @BeanProperty val ts: Long)
