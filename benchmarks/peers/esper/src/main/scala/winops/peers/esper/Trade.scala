package winops.peers.esper

import scala.beans.BeanProperty

/** An event as a bean, the form that Esper processes fastest. */
final class Trade(
    @BeanProperty val key: Long,
    @BeanProperty val seq: Long,
    @BeanProperty val price: Double,
    @BeanProperty val qty: Long,
    @BeanProperty val ts: Long)
